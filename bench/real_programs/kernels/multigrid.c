// V-cycles of multigrid for Poisson's equation on a square: Gauss-Seidel in two colours, restriction, interpolation.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int side; // points of a side, without the border of zeros
    double *value;
    double *right;
    double *residual;
} Grid;

static size_t at(const Grid *grid, int row, int column) {
    return (size_t)row * (size_t)(grid->side + 2) + (size_t)column;
}

static Grid make_grid(int side) {
    size_t points = (size_t)(side + 2) * (size_t)(side + 2);
    return (Grid){side, calloc(points, sizeof(double)), calloc(points, sizeof(double)), calloc(points, sizeof(double))};
}

static double neighbours(const Grid *grid, int i, int j) {
    const double *v = grid->value;
    return v[at(grid, i - 1, j)] + v[at(grid, i + 1, j)] + v[at(grid, i, j - 1)] + v[at(grid, i, j + 1)];
}

static void smooth(Grid *grid) {
    for (int colour = 0; colour < 2; colour++) {
#pragma omp parallel for schedule(static)
        for (int i = 1; i <= grid->side; i++)
            for (int j = 1 + (i + colour) % 2; j <= grid->side; j += 2)
                grid->value[at(grid, i, j)] = (neighbours(grid, i, j) + grid->right[at(grid, i, j)]) / 4;
    }
}

static void compute_residual(Grid *grid) {
#pragma omp parallel for schedule(static)
    for (int i = 1; i <= grid->side; i++)
        for (int j = 1; j <= grid->side; j++)
            grid->residual[at(grid, i, j)] =
                grid->right[at(grid, i, j)] + neighbours(grid, i, j) - 4 * grid->value[at(grid, i, j)];
}

static void restrict_to(const Grid *fine, Grid *coarse) {
    for (int i = 1; i <= coarse->side; i++)
        for (int j = 1; j <= coarse->side; j++) {
            const double *centre = &fine->residual[at(fine, 2 * i, 2 * j)];
            ptrdiff_t row = fine->side + 2;
            double edges = centre[-1] + centre[1] + centre[-row] + centre[row];
            double corners = centre[-row - 1] + centre[-row + 1] + centre[row - 1] + centre[row + 1];
            coarse->right[at(coarse, i, j)] = (4 * centre[0] + 2 * edges + corners) / 4;
            coarse->value[at(coarse, i, j)] = 0;
        }
}

static void add_interpolated(const Grid *coarse, Grid *fine) {
    for (int i = 1; i <= fine->side; i++)
        for (int j = 1; j <= fine->side; j++) {
            const double *v = coarse->value;
            int above = i / 2, left = j / 2, below = above + i % 2, right = left + j % 2;
            fine->value[at(fine, i, j)] += (v[at(coarse, above, left)] + v[at(coarse, above, right)] +
                                            v[at(coarse, below, left)] + v[at(coarse, below, right)]) /
                                           4;
        }
}

static void cycle(Grid *grids, int level, int levels) {
    Grid *grid = &grids[level];
    int sweeps = level == levels - 1 ? 20 : 2;
    for (int i = 0; i < sweeps; i++)
        smooth(grid);
    if (level == levels - 1)
        return;
    compute_residual(grid);
    restrict_to(grid, &grids[level + 1]);
    cycle(grids, level + 1, levels);
    add_interpolated(&grids[level + 1], grid);
    for (int i = 0; i < sweeps; i++)
        smooth(grid);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    enum { MOST_LEVELS = 20 };
    int levels = atoi(argv[1]);
    if (levels < 2 || levels > MOST_LEVELS)
        return 2;
    Grid grids[MOST_LEVELS];
    for (int level = 0; level < levels; level++)
        grids[level] = make_grid((1 << (levels - level)) - 1);
    for (int i = 1; i <= grids[0].side; i++)
        for (int j = 1; j <= grids[0].side; j++)
            grids[0].right[at(&grids[0], i, j)] = sin(i * 0.01) * cos(j * 0.02) / grids[0].side;
    for (int i = 0; i < atoi(argv[2]); i++)
        cycle(grids, 0, levels);
    compute_residual(&grids[0]);
    double norm = 0;
    for (int i = 1; i <= grids[0].side; i++)
        for (int j = 1; j <= grids[0].side; j++)
            norm += grids[0].residual[at(&grids[0], i, j)] * grids[0].residual[at(&grids[0], i, j)];
    printf("multigrid %.6e\n", sqrt(norm));
    return 0;
}
