// The same for some seconds: long enough to be sampled, and to be interrupted.
#define ROUNDS 20000
#include "prog.c"
