//! Traces in object stores: copies of them, which can be mapped into memory as traces are.
//!
//! The stores are those of the `object_store` crate: S3 and what speaks its protocol (`s3://bucket/prefix`), Google Cloud
//! Storage (`gs://`), Azure (`az://`), and WebDAV (`http://`, `https://`). Credentials and endpoints come from the
//! environment, under the names that the providers' own tools use (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`,
//! `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`, ...).

mod copying;
mod error;
mod place;

pub use error::StoreError;
pub use place::{is_address, Copies, LocalPlace};
