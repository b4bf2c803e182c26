// Built by a plain compiler.
int read_from(const int *place) { return *static_cast<const volatile int *>(place); }
