// Follows a list until a file appears, and executes another program then: `replaced FILE`.
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { LENGTH = 512 };

static struct link {
    struct link *next;
    uint64_t visits;
} links[LENGTH];

__attribute__((noinline)) static void follow(struct link *at) {
    for (int i = 0; i < LENGTH; i++, at = at->next)
        at->visits++;
}

int main(int count, char **arguments) {
    for (int i = 0; i < LENGTH; i++)
        links[i].next = &links[i * 7 % LENGTH];
    puts("ready");
    fflush(stdout);
    while (count > 1 && access(arguments[1], F_OK) != 0)
        follow(links);
    execlp("sleep", "sleep", "60", (char *)NULL);
    return 1;
}
