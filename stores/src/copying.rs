//! Copies of objects.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use futures::{StreamExt, TryStreamExt};
use object_store::path::Path as Location;
use object_store::{parse_url_opts, ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::runtime::Builder;
use url::Url;

use crate::StoreError;

/// Prefixes of the environment variables for stores.
const PREFIXES: [&str; 4] = ["aws_", "azure_", "google_", "gcs_"];

/// What was copied.
pub struct Copied {
    /// The object's copy, or the folder with those of all objects.
    pub path: PathBuf,
    pub bytes: u64,
    pub objects: usize,
}

/// Copies into the folder.
pub fn copy(address: &str, folder: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<Copied, StoreError> {
    let url = Url::parse(address).map_err(|source| StoreError::Address {
        address: address.to_owned(),
        source,
    })?;
    let from_store = |source| StoreError::Store {
        address: address.to_owned(),
        source,
    };
    let (store, prefix) = parse_url_opts(&url, settings(&url)).map_err(from_store)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("store")
        .enable_all()
        .build()
        .map_err(StoreError::Thread)?;
    runtime.block_on(async {
        let is_object = is_trace(&prefix);
        let objects = match is_object {
            true => vec![store.head(&prefix).await.map_err(from_store)?],
            false => traces_below(&*store, &prefix).await.map_err(from_store)?,
        };
        if objects.is_empty() {
            return Err(StoreError::Nothing {
                address: address.to_owned(),
            });
        }
        let bytes = objects.iter().map(|object| object.size).sum();
        let mut path = folder.to_owned();
        for object in &objects {
            let target = folder.join(file_name(address, &prefix, &object.location)?);
            copy_object(&*store, object, &target, from_store, &mut |more| {
                progress(more, bytes)
            })
            .await?;
            if is_object {
                path = target;
            }
        }
        Ok(Copied {
            path,
            bytes,
            objects: objects.len(),
        })
    })
}

/// The location of the store and the credentials, from the environment.
fn settings(url: &Url) -> Vec<(String, String)> {
    // Otherwise any program's variable could be taken for one of the store's.
    let known = |name: &str| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let of_environment = std::env::vars_os()
        .filter_map(|(name, value)| {
            Some((
                name.into_string().ok()?.to_ascii_lowercase(),
                value.into_string().ok()?,
            ))
        })
        .filter(|(name, _)| known(name));
    let mut settings: Vec<_> = of_environment.collect();
    if url.scheme() == "http" {
        settings.push(("allow_http".into(), "true".into()));
    }
    settings
}

fn is_trace(location: &Location) -> bool {
    location.extension() == Some("trackway")
}

async fn traces_below(store: &dyn ObjectStore, prefix: &Location) -> object_store::Result<Vec<ObjectMeta>> {
    let objects = store.list(Some(prefix));
    let mut traces: Vec<ObjectMeta> = objects
        .try_filter(|object| futures::future::ready(is_trace(&object.location)))
        .try_collect()
        .await?;
    traces.sort_by(|one, other| one.location.cmp(&other.location));
    Ok(traces)
}

/// Path below the folder: the object's name after the prefix.
fn file_name(address: &str, prefix: &Location, object: &Location) -> Result<PathBuf, StoreError> {
    let below: PathBuf = match object.prefix_match(prefix) {
        Some(parts) if object != prefix => parts.map(|part| part.as_ref().to_owned()).collect(),
        _ => object.filename().unwrap_or_default().into(),
    };
    let stays_below = below
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    match stays_below && below.file_name().is_some() {
        true => Ok(below),
        false => Err(StoreError::Name {
            address: address.to_owned(),
            name: object.to_string(),
        }),
    }
}

async fn copy_object(
    store: &dyn ObjectStore,
    object: &ObjectMeta,
    target: &Path,
    from_store: impl Fn(object_store::Error) -> StoreError,
    progress: &mut dyn FnMut(u64),
) -> Result<(), StoreError> {
    let failed = |source| StoreError::Copying {
        path: target.to_owned(),
        source,
    };
    let mut file = created(target).map_err(failed)?;
    let mut parts = store
        .get(&object.location)
        .await
        .map_err(&from_store)?
        .into_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(&from_store)?;
        file.write_all(&part).map_err(failed)?;
        progress(part.len() as u64);
    }
    Ok(())
}

/// Creates a file that only the user may read.
fn created(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn objects_become_files_below_the_folder() {
        let name = |prefix: &str, object: &str| file_name("s3://b", &prefix.into(), &object.into());
        assert_eq!(
            name("runs", "runs/a/one.trackway").unwrap(),
            Path::new("a/one.trackway")
        );
        assert_eq!(name("", "one.trackway").unwrap(), Path::new("one.trackway"));
        assert_eq!(
            name("runs/one.trackway", "runs/one.trackway").unwrap(),
            Path::new("one.trackway")
        );
        assert!(name("runs", "runs").is_ok());
    }

    #[test]
    fn copies_are_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b.trackway");
        created(&file).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        assert!(created(&file).is_err(), "nothing is replaced");
    }
}
