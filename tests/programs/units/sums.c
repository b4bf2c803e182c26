// A function of another unit than main's, and what it knows of a third unit is less than what stands there.
struct weight {
    long heavy, light;
};

extern struct weight weights[];

long sum_of_light(int rounds) {
    long sum = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 64; i++)
            sum += *(volatile long *)&weights[i].light;
    return sum;
}
