// A server with a loop of epoll in each worker: `requests_server WORKERS`. It says at which port of the loopback it
// listens, and answers until it is told to end. What it answers depends on the request alone.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "requests.h"

enum { BUCKETS = 256, CHAIN = 8, MOST_WORKERS = 8, EVENTS = 64, BATCH = 64 };

struct node {
    struct node *next;
    uint64_t key, value;
};

struct worker {
    pthread_t thread;
    int events;
    uint64_t requests; // its own thread alone writes it
};

static struct node *buckets[BUCKETS];
static struct worker workers[MOST_WORKERS];
static int worker_count;

static void check(int holds, const char *what) {
    if (!holds) {
        perror(what);
        abort();
    }
}

static void fill_buckets(void) {
    uint64_t seed = 1;
    for (int i = 0; i < BUCKETS * CHAIN; i++) {
        struct node *node = malloc(sizeof *node);
        check(node != NULL, "malloc");
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        *node = (struct node){buckets[i % BUCKETS], seed, seed >> 32};
        buckets[i % BUCKETS] = node;
    }
}

// Follows one bucket to its end: CHAIN loads of `node.value`.
__attribute__((noinline)) static uint64_t value_of(uint64_t key) {
    uint64_t value = key;
    for (const struct node *node = buckets[key % BUCKETS]; node; node = node->next)
        value = value * 31 + node->value;
    return value;
}

static uint64_t requests_of_all(void) {
    uint64_t requests = 0;
    for (int i = 0; i < worker_count; i++)
        requests += __atomic_load_n(&workers[i].requests, __ATOMIC_ACQUIRE);
    return requests;
}

__attribute__((noinline)) static void answer_one(struct worker *worker, uint64_t key, struct reply *reply) {
    char *text = malloc(TEXT);
    check(text != NULL, "malloc");
    uint64_t value = value_of(key);
    memset(text, (int)('a' + value % 26), TEXT);
    memcpy(reply->text, text, TEXT);
    free(text);
    reply->key = key;
    reply->value = value;
    worker->requests++;
}

static void answer(struct worker *worker, uint64_t key, struct reply *reply) {
    memset(reply, 0, sizeof *reply);
    if (key == HOW_MANY) {
        reply->value = requests_of_all();
    } else if (key == END) {
        printf("ended\n");
        fflush(stdout);
        exit(3);
    } else {
        answer_one(worker, key, reply);
    }
}

static void send_all(int connection, const void *bytes, size_t length) {
    for (size_t sent = 0; sent < length;) {
        ssize_t some = send(connection, (const char *)bytes + sent, length - sent, MSG_NOSIGNAL);
        if (some <= 0)
            return; // it has gone
        sent += (size_t)some;
    }
}

// Clients send whole requests, which the loopback doesn't tear.
static void serve_connection(struct worker *worker, int connection) {
    uint64_t keys[BATCH];
    struct reply replies[BATCH];
    ssize_t length = recv(connection, keys, sizeof keys, 0);
    if (length <= 0) {
        close(connection);
        return;
    }
    check(length % (ssize_t)sizeof keys[0] == 0, "a torn request");
    size_t count = (size_t)length / sizeof keys[0];
    for (size_t i = 0; i < count; i++)
        answer(worker, keys[i], &replies[i]);
    send_all(connection, replies, count * sizeof replies[0]);
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct epoll_event events[EVENTS];
    for (;;) {
        int count = epoll_wait(worker->events, events, EVENTS, -1);
        for (int i = 0; i < count; i++)
            serve_connection(worker, events[i].data.fd);
    }
    return NULL;
}

static int listen_somewhere(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    check(bind(listener, (struct sockaddr *)&address, length) == 0, "bind");
    check(listen(listener, 64) == 0, "listen");
    check(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int main(int argc, char **argv) {
    worker_count = argc > 1 ? atoi(argv[1]) : 2;
    check(worker_count > 0 && worker_count <= MOST_WORKERS, "workers");
    fill_buckets();
    for (int i = 0; i < worker_count; i++) {
        workers[i].events = epoll_create1(0);
        check(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0, "pthread_create");
    }
    int listener = listen_somewhere();
    for (int next = 0;; next = (next + 1) % worker_count) {
        int connection = accept(listener, NULL, NULL);
        check(connection >= 0, "accept");
        struct epoll_event event = {.events = EPOLLIN, .data.fd = connection};
        check(epoll_ctl(workers[next].events, EPOLL_CTL_ADD, connection, &event) == 0, "epoll_ctl");
    }
}
