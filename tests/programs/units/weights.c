// No code: a unit that nothing leads to but the address of what it holds.
struct weight {
    long heavy, light;
};

struct weight weights[64];
