// An interpreter for a register bytecode and three programs in it: the n-th Fibonacci number by recursion, a sieve in a
// table's array part, and a histogram in a table's hash part, the last two up to n^4. A second argument sets how often.
#include "../region.h"
#include "../size.h"
#include "machine.h"

enum { FULL_SIZE = 33, SMALL_SIZE = 8 };
enum { FIBONACCI, SIEVE, HISTOGRAM };

static const struct instruction fibonacci[] = {
    {LOAD, 1, 2, 0},         // two
    {LESS, 2, 0, 1},         // n < 2?
    {UNLESS, 2, 1, 0},       //
    {RETURN, 0, 0, 0},       // n
    {LOAD, 3, 1, 0},         //
    {SUBTRACT, 4, 0, 3},     //
    {CALL, 4, FIBONACCI, 0}, // fibonacci(n - 1)
    {SUBTRACT, 5, 0, 1},     //
    {CALL, 5, FIBONACCI, 0}, // fibonacci(n - 2)
    {ADD, 4, 4, 5},          //
    {RETURN, 4, 0, 0},       //
};

// The number of primes below n.
static const struct instruction sieve[] = {
    {NEW_TABLE, 1, 0, 0}, // composite = {}
    {LOAD, 2, 0, 0},      // i
    {LOAD, 3, 0, 0},      // false
    {SET, 1, 2, 3},       // composite[i] = false
    {LOOP, 2, -2, 0},     // for i in 0..n
    {LOAD, 4, 0, 0},      // primes = 0
    {LOAD, 5, 1, 0},      // one
    {LOAD, 2, 2, 0},      // i = 2
    {GET, 6, 1, 2},       // composite[i]?
    {LESS, 6, 6, 5},      //
    {UNLESS, 6, 7, 0},    // if so, the next i
    {ADD, 4, 4, 5},       // primes++
    {MULTIPLY, 7, 2, 2},  // multiple = i * i
    {LESS, 8, 7, 0},      // multiple < n?
    {UNLESS, 8, 3, 0},    //
    {SET, 1, 7, 5},       // composite[multiple] = true
    {ADD, 7, 7, 2},       // multiple += i
    {JUMP, 0, -5, 0},     //
    {LOOP, 2, -11, 0},    // for i in 2..n
    {RETURN, 4, 0, 0},    //
};

// The sum of histogram[x * x % 9973 + 100000] over x below n, each counted up before it is read, times a half.
static const struct instruction histogram[] = {
    {NEW_TABLE, 1, 0, 0}, // histogram = {}
    {LOAD, 2, 0, 0},      // x
    {LOAD, 3, 9973, 0},   // modulus
    {LOAD, 4, 1, 0},      // one
    {LOAD, 5, 0, 0},      // sum
    {LOAD, 6, 10000, 0},  //
    {MULTIPLY, 7, 2, 2},  // key = x * x
    {REMAINDER, 7, 7, 3}, //   % 9973
    {ADD, 7, 7, 6},       //   + 10000
    {GET, 8, 1, 7},       // count = histogram[key]
    {LESS, 9, 8, 4},      // none yet?
    {UNLESS, 9, 1, 0},    //
    {LOAD, 8, 0, 0},      // count = 0
    {ADD, 8, 8, 4},       //
    {SET, 1, 7, 8},       // histogram[key] = count + 1
    {ADD, 5, 5, 8},       // sum += count + 1
    {LOOP, 2, -11, 0},    // for x in 0..n
    {TO_NUMBER, 5, 5, 0}, //
    {RETURN, 5, 0, 0},    //
};

static const struct function functions[] = {
    [FIBONACCI] = {"fibonacci", fibonacci},
    [SIEVE] = {"sieve", sieve},
    [HISTOGRAM] = {"histogram", histogram},
};

static struct value call(int entry, size_t argument) {
    TRACKWAY_REGION_BEGIN("run");
    struct value result = run(functions, entry, (struct value){.type = INTEGER, .as.integer = (int64_t)argument});
    TRACKWAY_REGION_END("run");
    return result;
}

int main(int argc, char **argv) {
    size_t size = size_argument(argc, argv, FULL_SIZE, SMALL_SIZE);
    size_t bound = size * size * size * size;
    struct value number, primes, sum;
    for (size_t rounds = argc > 2 ? size_argument(argc - 1, argv + 1, 1, 1) : 1; rounds > 0; rounds--) {
        number = call(FIBONACCI, size);
        primes = call(SIEVE, bound);
        sum = call(HISTOGRAM, bound);
    }
    printf("interpreter size %zu fibonacci %lld primes %lld histogram %.0f\n", size, (long long)number.as.integer,
           (long long)primes.as.integer, sum.as.number);
    return 0;
}
