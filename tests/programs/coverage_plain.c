// Is compiled by clang alone.
long plain_sum(const long *array, long count) {
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += array[i];
    return sum;
}

long plain_call_back(const long *array, long count, long (*back)(const long *array, long count)) {
    return plain_sum(array, count) + back(array, count);
}
