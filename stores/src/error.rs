//! What can go wrong with a store.

use std::io;
use std::path::PathBuf;

/// Why traces can't be read from a store. Messages name the address and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{address}: is no address: {source}")]
    Address {
        address: String,
        source: url::ParseError,
    },

    #[error("{address}: {source}; credentials and endpoints are taken from the environment (docs/sql.md, \"Many traces\")")]
    Store {
        address: String,
        source: object_store::Error,
    },

    #[error("{address}: there is no trace; traces are objects named *.trackway")]
    Nothing { address: String },

    #[error("{address}: an object's name can't be a file's: {name:?}")]
    Name { address: String, name: String },

    #[error("{}: {source}; traces of stores are copied to the folder that TMPDIR names", path.display())]
    Copying { path: PathBuf, source: io::Error },

    #[error("cannot start the thread that copies: {0}")]
    Thread(io::Error),
}
