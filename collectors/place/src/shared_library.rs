//! Libraries that are used where they are installed.

use std::fmt;

use libloading::{Library, Symbol};
use trackway_answers::failure::Failure;

/// A library, which stays loaded.
pub struct SharedLibrary {
    file: &'static str,
    library: &'static Library,
}

impl SharedLibrary {
    /// Loads the library of this file name, as programs find theirs.
    ///
    /// # Errors
    /// What the dynamic linker says.
    ///
    /// # Safety
    /// What the library does when it is loaded has to be harmless.
    pub unsafe fn load(file: &'static str) -> Result<SharedLibrary, libloading::Error> {
        // SAFETY: as the caller says.
        let library = unsafe { Library::new(file) }?;
        Ok(SharedLibrary {
            file,
            library: Box::leak(Box::new(library)),
        })
    }

    /// A function, or a pointer to a variable.
    ///
    /// # Errors
    /// If this version of the library has none of that name.
    ///
    /// # Safety
    /// `T` has to be what the name stands for.
    pub unsafe fn symbol<T>(&self, name: &str) -> Result<Symbol<'static, T>, Failure> {
        // SAFETY: as the caller says.
        unsafe { self.library.get(name.as_bytes()) }.map_err(|_| {
            let problem = format!("this {} has no {name}: it is too old", self.file);
            Failure::new(problem)
        })
    }
}

impl fmt::Debug for SharedLibrary {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.file)
    }
}
