//! Functions of the C library and the C++ runtime that call nothing of the program.

/// Their names, in order.
#[rustfmt::skip]
const LEAVES: [&str; 152] = [
    "_Unwind_Resume", "_ZSt9terminatev", "__assert_fail", "__clang_call_terminate", "__cxa_allocate_exception",
    "__cxa_atexit", "__cxa_free_exception", "__cxa_guard_acquire", "__cxa_guard_release", "__cxa_rethrow",
    "__cxa_throw", "__errno_location", "__isoc99_sscanf", "__stack_chk_fail", "abort", "abs", "acos",
    "aligned_alloc", "asin", "atan", "atan2", "atof", "atoi", "atol", "bcmp", "calloc", "cbrt", "ceil", "ceilf",
    "clock", "clock_gettime", "close", "cos", "cosf", "cosh", "exp", "exp2", "expf", "expm1", "fabs", "fclose",
    "feof", "ferror", "fflush", "fgetc", "fgets", "floor", "floorf", "fmax", "fmin", "fmod", "fopen", "fprintf",
    "fputc", "fputs", "fread", "free", "frexp", "fseek", "ftell", "fwrite", "getenv", "getpid", "gettimeofday",
    "hypot", "isalpha", "isdigit", "isspace", "ldexp", "llround", "log", "log10", "log1p", "log2", "logf",
    "lrint", "lround", "malloc", "memalign", "memchr", "memcmp", "memcpy", "memmove", "memrchr", "memset", "mmap",
    "modf", "munmap", "nanosleep", "open", "posix_memalign", "pow", "powf", "printf", "pthread_mutex_lock",
    "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_self", "putc", "putchar", "puts", "rand", "random",
    "rawmemchr", "read", "realloc", "rint", "round", "sin", "sinf", "sinh", "snprintf", "sprintf", "sqrt",
    "sqrtf", "srand", "sscanf", "stpcpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcpy", "strcspn",
    "strdup", "strerror", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strnlen", "strrchr",
    "strspn", "strstr", "strtod", "strtol", "strtoll", "strtoul", "strtoull", "tan", "tanh", "time", "tolower",
    "toupper", "trunc", "usleep", "vfprintf", "vprintf", "vsnprintf", "vsprintf", "write",
];
/// Allocation and release, strings of characters and hash tables, in all their forms.
const PREFIXES: [&str; 8] = [
    "_Znwm",
    "_Znam",
    "_ZdlPv",
    "_ZdaPv",
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE",
    "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE",
    "_ZNSt8__detail15_List_node_base",
    "_ZNKSt8__detail20_Prime_rehash_policy",
];
/// Functions of `std` itself whose names begin so.
const STD_PREFIXES: [&str; 3] = ["__throw_", "_Rb_tree_", "_Hash_bytes"];

/// Whether the function of that linkage name calls nothing that the program defines.
pub(super) fn is_leaf(name: &str) -> bool {
    let starts = |name: &str, prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let of_std = name.strip_prefix("_ZSt");
    let of_std = of_std.map(|name| name.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    LEAVES.binary_search(&name).is_ok()
        || starts(name, &PREFIXES)
        || of_std.is_some_and(|name| starts(name, &STD_PREFIXES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_found() {
        assert!(LEAVES.is_sorted());
        assert!(LEAVES.into_iter().all(is_leaf));
        for name in [
            "_ZdlPvm",
            "_ZnwmSt11align_val_t",
            "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm",
            "_ZSt20__throw_length_errorPKc",
            "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
        ] {
            assert!(is_leaf(name), "{name}");
        }
        for name in [
            "",
            "qsort",
            "bsearch",
            "_ZN3VecC2Em",
            "_Zn",
            "_ZSt4sortIPiEvT_S1_",
        ] {
            assert!(!is_leaf(name), "{name}");
        }
    }
}
