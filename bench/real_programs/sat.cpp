// Random formulas of three literals a clause, near the threshold where they are hardest: variables, formulas.
#include "cadical.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

static uint32_t state = 1;

static uint32_t next_number() { return (state = state * 1664525u + 1013904223u) >> 8; }

static int solve(int variables) {
    CaDiCaL::Solver solver;
    for (int clause = 0; clause < variables * 426 / 100; clause++) {
        for (int literal = 0; literal < 3; literal++) {
            int variable = 1 + static_cast<int>(next_number() % static_cast<uint32_t>(variables));
            solver.add(next_number() % 2 ? variable : -variable);
        }
        solver.add(0);
    }
    int result = solver.solve();
    int positive = 0;
    for (int variable = 1; result == 10 && variable <= variables; variable++)
        positive += solver.val(variable) > 0;
    std::printf("%d %d\n", result, positive);
    return result;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    for (int i = 0; i < std::atoi(argv[2]); i++)
        if (solve(std::atoi(argv[1])) == 0)
            return 1;
    return 0;
}
