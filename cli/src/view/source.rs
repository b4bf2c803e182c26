//! Which files a page may quote.

use std::path::Path;

/// Of C, C++ and Fortran, and of what generates them.
const EXTENSIONS: [&str; 38] = [
    "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "C", "H", "cp", "inc", "inl", "ipp",
    "ixx", "tcc", "tpp", "txx", "cppm", "def", "m", "mm", "cu", "cuh", "f", "F", "for", "ftn", "f77", "f90",
    "F90", "f95", "f03", "f08", "y", "l",
];

/// Headers of the standard library have no extension.
const FOLDERS_OF_HEADERS: [&str; 2] = ["/usr/include", "/usr/lib"];

/// Whether the name is one of source code. A trace can name any file as its source, and a page may be passed on: it must not
/// carry what somebody else's trace made it read.
pub fn is_source_file(file: &str) -> bool {
    let path = Path::new(file);
    let plain = !path.components().any(|component| component.as_os_str() == "..");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) => EXTENSIONS.contains(&extension),
        None => plain && FOLDERS_OF_HEADERS.iter().any(|folder| path.starts_with(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_source_code_is_quoted() {
        for file in [
            "a.c",
            "/x/b.HPP/c.hpp",
            "/usr/include/c++/12/vector",
            "sub/solve.f90",
            "../a.h",
        ] {
            assert!(is_source_file(file), "{file}");
        }
        for file in [
            "/etc/passwd",
            "/home/u/.ssh/id_ed25519",
            "/usr/include/../../etc/shadow",
            "secret.txt",
            ".c",
            "",
        ] {
            assert!(!is_source_file(file), "{file}");
        }
    }
}
