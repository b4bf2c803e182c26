// A library whose function has a frame of FRAME bytes; all else, and so its addresses, is the same for any of them.
int call_below(void (*callback)(void));

int call_below(void (*callback)(void)) {
    char block[FRAME];
    block[0] = 1;
    __asm__ volatile("" : : "r"(block) : "memory"); // it needs all of its bytes
    callback();
    __asm__ volatile("" : : "r"(block) : "memory");
    return block[0];
}
