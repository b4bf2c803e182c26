// Regions that are left in all the ways that C knows. What each of them touches stands in the test.
#include "regions.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, MOST_WORK = 400 };

static jmp_buf target;

static void left_by_break(int rounds) {
    for (int i = 0; i < rounds; i++) {
        TRACKWAY_REGION_BEGIN("break");
        touch(1);
        if (i == 6)
            break;
        touch(1);
        TRACKWAY_REGION_END("break");
    }
    touch(1);
}

static void left_by_continue(int rounds) {
    for (int i = 0; i < rounds; i++) {
        TRACKWAY_REGION_BEGIN("continue");
        touch(1);
        if (i % 2)
            continue;
        touch(1);
        TRACKWAY_REGION_END("continue");
    }
}

static int left_by_return(int early) {
    TRACKWAY_REGION_BEGIN("return");
    touch(1);
    if (early)
        return 1;
    touch(1);
    TRACKWAY_REGION_END("return");
    touch(1);
    return 0;
}

static void left_by_goto(int early) {
    TRACKWAY_REGION_BEGIN("goto");
    touch(1);
    if (early)
        goto out;
    touch(1);
    TRACKWAY_REGION_END("goto");
out:
    touch(1);
}

static void nested(int rounds) {
    for (int i = 0; i < rounds; i++) {
        TRACKWAY_REGION_BEGIN("outer");
        touch(1);
        TRACKWAY_REGION_BEGIN("inner");
        touch(3);
        TRACKWAY_REGION_END("inner");
        touch(1);
        TRACKWAY_REGION_END("outer");
    }
}

// Only the outer one's end is stated.
static void nested_without_end(int rounds) {
    for (int i = 0; i < rounds; i++) {
        TRACKWAY_REGION_BEGIN("all of it");
        TRACKWAY_REGION_BEGIN("end of it");
        touch(2);
        TRACKWAY_REGION_END("all of it");
        touch(1);
    }
}

static void recursive(int depth) {
    TRACKWAY_REGION_BEGIN("recursive");
    touch(1);
    if (depth > 0)
        recursive(depth - 1);
    touch(1);
    TRACKWAY_REGION_END("recursive");
}

static void in_one_block(void) {
    touched = 1;
    TRACKWAY_REGION_BEGIN("in one block");
    touched = 2;
    touched = 3;
    TRACKWAY_REGION_END("in one block");
    touched = 4;
}

static void jump_back(void) {
    touch(2);
    longjmp(target, 1);
}

static void left_by_jump(void) {
    if (setjmp(target) == 0) {
        TRACKWAY_REGION_BEGIN("jump");
        touch(1);
        jump_back();
        TRACKWAY_REGION_END("jump");
    }
    touch(1);
}

// The jump leaves the inner one, and stays in the outer one.
static void left_up_to_outer_one(void) {
    TRACKWAY_REGION_BEGIN("jump outer");
    if (setjmp(target) == 0) {
        TRACKWAY_REGION_BEGIN("jump inner");
        touch(1);
        jump_back();
    } else {
        touch(4);
    }
    TRACKWAY_REGION_END("jump outer");
}

static void elsewhere(int rounds) {
    static void (*volatile const ways[])(int) = {touch_elsewhere, touch_in_object};
    for (int i = 0; i < rounds; i++) {
        TRACKWAY_REGION_BEGIN("elsewhere");
        touch_elsewhere(1);
        ways[0](2);
        TRACKWAY_REGION_END("elsewhere");
        ways[0](1);
    }
    TRACKWAY_REGION_BEGIN("object");
    touch_in_object(5);
    ways[1](6);
    TRACKWAY_REGION_END("object");
}

static TRACKWAY_REGION_FUNCTION int whole_function(int times) {
    touch(times);
    if (times > 2)
        return 0;
    touch(1);
    return 1;
}

static __attribute__((noinline)) void globbed_one(void) { touch(2); }
static __attribute__((noinline)) void globbed_two(void) { touch(3); }

static void *work(void *part) {
    TRACKWAY_REGION_BEGIN("threads");
    touch((int)(intptr_t)part * (MOST_WORK / THREADS));
    TRACKWAY_REGION_END("threads");
    return NULL;
}

static void threads(void) {
    pthread_t started[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&started[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(started[i], NULL);
}

int main(void) {
    left_by_break(10);
    left_by_continue(10);
    for (int early = 0; early < 4; early++) {
        left_by_return(early);
        left_by_goto(early);
        whole_function(early);
    }
    nested(5);
    nested_without_end(5);
    recursive(4);
    recursive(0);
    in_one_block();
    for (int i = 0; i < 3; i++) {
        left_by_jump();
        left_up_to_outer_one();
    }
    elsewhere(3);
    globbed_one();
    globbed_two();
    globbed_two();
    threads();
    puts("regions left");
    return 0;
}
