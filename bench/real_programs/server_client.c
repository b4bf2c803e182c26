// server_client SOCKET REQUESTS: loads a server of the Redis protocol on a Unix socket with three kinds of commands,
// many at once, prints a sum of its replies, and asks it to shut down. Ends by itself when the server doesn't answer.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 64, MOST_BYTES = 1 << 16, LIMIT_S = 300, KEYS = 50000 };

static uint32_t state = 1;

static uint32_t next_number(void) { return (state = state * 1664525u + 1013904223u) >> 8; }

// The server may not have opened its socket yet.
static int connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    for (;;) {
        int server = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(server, (struct sockaddr *)&address, sizeof address) == 0)
            return server;
        close(server);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static size_t write_command(char *out, size_t room, int kind) {
    unsigned key = next_number() % KEYS;
    switch (kind) {
    case 0:
        return (size_t)snprintf(out, room, "SET key:%u value:%u:%0*u\r\n", key, key, (int)(key % 200) + 1, key);
    case 1:
        return (size_t)snprintf(out, room, "GET key:%u\r\n", key);
    case 2:
        return (size_t)snprintf(out, room, "LPUSH list:%u item:%u\r\n", key % 100, key);
    case 3:
        return (size_t)snprintf(out, room, "ZADD scores %u member:%u\r\n", next_number() % 1000, key);
    default:
        return (size_t)snprintf(out, room, "ZRANGE scores %u %u\r\n", key % 1000, key % 1000 + 5);
    }
}

static void send_all(int server, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = write(server, bytes, size);
        if (sent <= 0)
            exit(1);
        bytes += sent, size -= (size_t)sent;
    }
}

// The last command is a PING with a mark, whose reply ends the round.
static void read_until_mark(int server, const char *mark, uint64_t *sum) {
    static char replies[MOST_BYTES * 16];
    size_t used = 0, length = strlen(mark);
    while (used < length || memcmp(replies + used - length, mark, length)) {
        ssize_t got = read(server, replies + used, sizeof replies - used);
        if (got <= 0)
            exit(1);
        used += (size_t)got;
    }
    for (size_t i = 0; i < used; i++)
        *sum = *sum * 31 + (unsigned char)replies[i];
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    alarm(LIMIT_S);
    int server = connect_to(argv[1]);
    uint64_t sum = 0;
    for (int request = 0; request < atoi(argv[2]); request += AT_ONCE) {
        char commands[MOST_BYTES], mark[32];
        size_t used = 0;
        for (int i = 0; i < AT_ONCE; i++)
            used += write_command(commands + used, sizeof commands - used, (int)(next_number() % 5));
        snprintf(mark, sizeof mark, "mark%08d\r\n", request);
        used += (size_t)snprintf(commands + used, sizeof commands - used, "PING %s", mark);
        send_all(server, commands, used);
        read_until_mark(server, mark, &sum);
    }
    static const char shutdown_command[] = "SHUTDOWN NOSAVE\r\n";
    send_all(server, shutdown_command, sizeof shutdown_command - 1);
    printf("%s requests, sum of the replies %016llx\n", argv[2], (unsigned long long)sum);
    return 0;
}
