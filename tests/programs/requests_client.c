// Many connections to requests_server.c: `requests_client PORT CONNECTIONS REPLIES [STOP_FILE]`. It asks the same again
// and again until STOP_FILE appears, and compares each reply with the file REPLIES. Without STOP_FILE it asks once, and
// writes that file.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "requests.h"

enum { BATCH = 16, BATCHES = 64, MOST_CONNECTIONS = 64 };

static struct reply expected[BATCHES * BATCH];
static int port, stopping;

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static int connected(void) {
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    check(connect(connection, (struct sockaddr *)&address, sizeof address) == 0, "no connection");
    return connection;
}

static void ask(int connection, int batch, struct reply *replies) {
    uint64_t keys[BATCH];
    for (int i = 0; i < BATCH; i++)
        keys[i] = (uint64_t)(batch * BATCH + i) * 2654435761u;
    check(send(connection, keys, sizeof keys, MSG_NOSIGNAL) == sizeof keys, "no request");
    size_t length = BATCH * sizeof *replies;
    check(recv(connection, replies, length, MSG_WAITALL) == (ssize_t)length, "no reply");
}

static void *ask_again(void *rounds) {
    int connection = connected();
    struct reply replies[BATCH];
    while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
        for (int batch = 0; batch < BATCHES; batch++) {
            ask(connection, batch, replies);
            check(!memcmp(replies, &expected[batch * BATCH], sizeof replies), "another reply");
        }
        ++*(uint64_t *)rounds;
    }
    close(connection);
    return NULL;
}

static void compare(int connections, const char *stop_file) {
    pthread_t threads[MOST_CONNECTIONS];
    uint64_t rounds[MOST_CONNECTIONS] = {0}, sum = 0;
    for (int i = 0; i < connections; i++)
        check(pthread_create(&threads[i], NULL, ask_again, &rounds[i]) == 0, "no thread");
    while (access(stop_file, F_OK) != 0)
        usleep(1000);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < connections; i++) {
        pthread_join(threads[i], NULL);
        sum += rounds[i];
    }
    printf("%llu\n", (unsigned long long)(sum * BATCHES * BATCH));
}

int main(int argc, char **argv) {
    check(argc >= 4, "arguments");
    port = atoi(argv[1]);
    FILE *file = fopen(argv[3], argc > 4 ? "rb" : "wb");
    check(file != NULL, "no file of replies");
    if (argc > 4) {
        check(fread(expected, sizeof expected, 1, file) == 1, "few replies");
        compare(atoi(argv[2]), argv[4]);
    } else {
        int connection = connected();
        for (int batch = 0; batch < BATCHES; batch++)
            ask(connection, batch, &expected[batch * BATCH]);
        check(fwrite(expected, sizeof expected, 1, file) == 1, "no replies written");
    }
    return fclose(file);
}
