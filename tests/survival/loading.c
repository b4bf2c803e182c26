// Loads and unloads shared objects that record, again and again, also to other addresses. Arguments: the object's path,
// and a second object that takes the first one's place in memory while it is gone.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static long numbers[64];
static volatile unsigned handled;

// Called back by the loaded object.
long add_up(long from) {
    long sum = 0;
    for (int i = 0; i < 64; i++) {
        numbers[i] += from + i;
        sum += numbers[i];
    }
    return sum;
}

static void on_signal(int number) { handled += (unsigned)number + (unsigned)add_up(0) % 2; }

static void *load(const char *path) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return object;
}

static void *find(void *object, const char *name) {
    void *found = dlsym(object, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void *use_from_thread(void *object) {
    long (*work)(int) = (long (*)(int))find(object, "work");
    printf("in a thread: %ld\n", work(9));
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    void *places[2] = {NULL, NULL};
    int moved = 0;
    for (int round = 0; round < 6; round++) {
        void *object = load(argv[1]);
        long (*work)(int) = (long (*)(int))find(object, "work");
        void (*install)(int, void (*)(int)) = (void (*)(int, void (*)(int)))find(object, "install");
        printf("round %d: %ld\n", round, work(round));
        moved += round > 0 && places[(round + 1) % 2] != (void *)work;
        places[round % 2] = (void *)work;
        install(SIGUSR1, on_signal);
        raise(SIGUSR1);
        pthread_t thread;
        pthread_create(&thread, NULL, use_from_thread, object);
        pthread_join(thread, NULL);
        dlclose(object);
        raise(SIGUSR1); // the handler stays when the object that installed it is gone
        void *other = load(argv[2]);
        printf("other: %ld\n", ((long (*)(int))find(other, "work"))(round));
        if (round % 2)
            dlclose(other); // else it stays where it is
    }
    printf("moved: %s, handled %u\n", moved > 0 ? "yes" : "no", handled);
    return 0;
}
