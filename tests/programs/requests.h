// What requests_server.c and requests_client.c agree on: a request is a key, of 8 bytes, and so are these.
#include <stdint.h>

#define HOW_MANY UINT64_MAX // answered with how many others there were
#define END (UINT64_MAX - 1)

enum { TEXT = 48 };

struct reply {
    uint64_t key, value;
    char text[TEXT];
};
