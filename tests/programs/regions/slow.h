// What slow.cpp offers, which isn't instrumented.
void slow(int milliseconds);
int quick(int number);
void throws_if_odd(int number);
int calls_back(int (*function)(int), int times);
