"""Random signatures: what callers pass and get back is the same with and without tracing (after clang's ABITestGen)."""
