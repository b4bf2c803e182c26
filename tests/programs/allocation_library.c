// A library whose function has a frame of FRAME bytes; all else, and so its addresses, is the same for any of them.
#include <string.h>

int call_below(void (*callback)(void));

int call_below(void (*callback)(void)) {
    volatile char block[FRAME];
    block[0] = 1;
    callback();
    return block[0];
}
