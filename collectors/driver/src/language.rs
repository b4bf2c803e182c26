//! The languages that the wrapper drives a compiler for.

/// Which driver runs, and so which libraries it links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    /// The compiler that is looked up in PATH if nothing names another.
    pub fn default_compiler(self) -> &'static str {
        match self {
            Language::C => "clang-22",
            Language::Cxx => "clang++-22",
            Language::Fortran => "flang-22",
        }
    }

    /// The environment variable that names another.
    pub fn variable(self) -> &'static str {
        match self {
            Language::C => "TRACKWAY_CLANG",
            Language::Cxx => "TRACKWAY_CLANGXX",
            Language::Fortran => "TRACKWAY_FLANG",
        }
    }

    /// The option that names another.
    pub fn option(self) -> &'static str {
        match self {
            Language::C | Language::Cxx => "--clang",
            Language::Fortran => "--flang",
        }
    }

    /// Debian's package of the default compiler.
    pub fn package(self) -> &'static str {
        match self {
            Language::C | Language::Cxx => "clang-22",
            Language::Fortran => "flang-22",
        }
    }

    /// Debian's package of the headers and libraries that its programs are built with.
    pub fn library_package(self) -> &'static str {
        match self {
            Language::C => "libc6-dev",
            Language::Cxx => "libstdc++-12-dev",
            Language::Fortran => "libflang-22-dev",
        }
    }
}
