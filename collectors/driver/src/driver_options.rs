//! Spellings of clang's and flang's driver options that change what the wrapper has to add.

/// Options whose value is the following argument. (Where an option also takes a joined value, only the bare spelling
/// matters here.)
#[rustfmt::skip]
pub const OPTIONS_WITH_SEPARATE_VALUE: &[&str] = &[
    "--analyzer-output", "--assert", "--config", "--define-macro", "--dyld-prefix", "--for-linker",
    "--force-link", "--imacros", "--include", "--include-directory", "--include-directory-after",
    "--include-prefix", "--include-with-prefix", "--include-with-prefix-after",
    "--include-with-prefix-before", "--language", "--library-directory", "--output", "--param", "--prefix",
    "--resource", "--serialize-diagnostics", "--std", "--sysroot", "--undefine-macro", "--write-dependencies",
    "-A", "-B", "-D", "-F", "-G", "-I", "-J", "-L", "-MF", "-MJ", "-MQ", "-MT", "-T", "-Tbss", "-Tdata", "-Ttext",
    "-U", "-V", "-Xanalyzer", "-Xarch_device", "-Xarch_host", "-Xassembler", "-Xclang", "-Xflang", "-Xopenmp-target",
    "-Xpreprocessor", "-arch", "-aux-info", "-b", "-ccc-gcc-name", "-ccc-install-dir", "-cxx-isystem",
    "-dependency-dot", "-dependency-file", "-dumpdir", "-e", "-fintrinsic-modules-path", "-fmodules-user-build-path", "-framework",
    "-gcc-toolchain", "-gen-cdb-fragment-path", "-idirafter", "-imacros", "-include", "-include-pch",
    "-iprefix", "-iquote", "-isysroot", "-isystem", "-isystem-after", "-ivfsoverlay", "-iwithprefix",
    "-iwithprefixbefore", "-iwithsysroot", "-mllvm", "-mmlir", "-module-dependency-dir", "-module-dir", "-mthread-model", "-o",
    "-resource-dir", "-rpath", "-serialize-diagnostics", "-u", "-vfsoverlay", "-working-directory",
    "-z",
];

/// Options that make the driver answer a question and do nothing else.
#[rustfmt::skip]
pub const QUERIES: &[&str] = &[
    "--help", "-help", "--help-hidden", "--version", "-dumpmachine", "-dumpversion", "-print-search-dirs",
    "-print-libgcc-file-name", "-print-multi-directory", "-print-multi-lib", "-print-multi-os-directory",
    "-print-resource-dir", "-print-runtime-dir", "-print-target-triple", "-print-effective-triple",
    "-print-targets", "-print-supported-cpus", "-print-supported-extensions", "-print-rocm-search-dirs",
    "-print-multi-flags-experimental", "-cc1", "-cc1as", "-cc1gen-reproducer",
];
