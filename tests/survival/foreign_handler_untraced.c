// Built by a plain compiler.
#include <signal.h>

void install_elsewhere(int number, void (*handler)(int)) { signal(number, handler); }
