// A particle fluid in linked cells of 896 bytes, after PARSEC's fluidanimate: a full cell continues in a chained one,
// and one loop of each step walks the whole grid but touches only `next`.
#include "random.h"
#include "region.h"
#include "size.h"

namespace {

constexpr int PARTICLES_PER_CELL = 18;
constexpr size_t FULL_CELLS = 40000, SMALL_CELLS = 32;
constexpr int STEPS = 400;

struct Vector {
    int x, y, z; // fixed point: sums are exact, so the answer doesn't depend on the optimiser
};

struct Cell {
    Vector position[PARTICLES_PER_CELL];
    Vector velocity[PARTICLES_PER_CELL];
    Vector acceleration[PARTICLES_PER_CELL];
    int density[PARTICLES_PER_CELL];
#ifndef SPLIT
    Cell *next;
#endif
    int particles;
    char padding[164];
};
#ifndef SPLIT
static_assert(sizeof(Cell) == 896, "a cell fills 14 cache lines");
#endif

class Grid {
  public:
    explicit Grid(size_t cells)
        : cells_(static_cast<Cell *>(allocate(2 * cells, sizeof(Cell)))),
#ifdef SPLIT
          next_(static_cast<Cell **>(allocate(2 * cells, sizeof(Cell *)))),
#endif
          count_(cells), spare_(cells_ + cells) {
        for (size_t i = 0; i < cells * PARTICLES_PER_CELL; i++)
            add(cells_[random_below(&random_, cells)]);
    }
    Grid(const Grid &) = delete;
    Grid &operator=(const Grid &) = delete;
    ~Grid() {
#ifdef SPLIT
        free(next_);
#endif
        free(cells_);
    }

    // The loop that touches only `next`: how many cells have a continuation.
    size_t chained() const {
        size_t chained = 0;
        for (size_t i = 0; i < count_; i++)
            for (const Cell *cell = next(&cells_[i]); cell; cell = next(cell))
                chained++;
        return chained;
    }

    void accelerate(size_t index) {
        for (Cell *cell = &cells_[index]; cell; cell = next(cell))
            for (int p = 0; p < cell->particles; p++) {
                cell->acceleration[p].y = -10 + cell->density[p] % 3;
                cell->density[p] += cell->position[p].x & 1;
            }
    }

    void move(size_t index) {
        for (Cell *cell = &cells_[index]; cell; cell = next(cell))
            for (int p = 0; p < cell->particles; p++) {
                cell->velocity[p].y += cell->acceleration[p].y;
                cell->position[p].x += cell->velocity[p].x;
                cell->position[p].y += cell->velocity[p].y;
                cell->position[p].z += cell->velocity[p].z;
            }
    }

    // A step moves only one cell in 16, as if the rest of the fluid were at rest.
    void step(int number) {
        for (size_t i = static_cast<size_t>(number) % 16; i < count_; i += 16) {
            accelerate(i);
            move(i);
        }
    }

    long long checksum() const {
        long long sum = 0;
        for (size_t i = 0; i < count_; i++)
            for (const Cell *cell = &cells_[i]; cell; cell = next(cell))
                for (int p = 0; p < cell->particles; p++)
                    sum = (sum * 7 + cell->position[p].x + cell->position[p].y + cell->position[p].z) % 1000000007;
        return sum;
    }

  private:
#ifdef SPLIT
    Cell *&next(const Cell *cell) const { return next_[cell - cells_]; }
#else
    static Cell *next(const Cell *cell) { return cell->next; }
    static Cell *&next(Cell *cell) { return cell->next; }
#endif

    void add(Cell &first) {
        Cell *cell = &first;
        while (cell->particles == PARTICLES_PER_CELL) {
            if (!next(cell))
                next(cell) = spare_++;
            cell = next(cell);
        }
        int p = cell->particles++;
        cell->position[p] = {coordinate(), coordinate(), coordinate()};
        cell->velocity[p] = {coordinate() % 8, coordinate() % 8, coordinate() % 8};
    }

    int coordinate() { return static_cast<int>(random_below(&random_, 1000)); }

    uint64_t random_ = 13;
    Cell *cells_;
#ifdef SPLIT
    Cell **next_;
#endif
    size_t count_;
    Cell *spare_; // the next unused cell of the second half
};

} // namespace

int main(int argc, char **argv) {
    size_t cells = size_argument(argc, argv, FULL_CELLS, SMALL_CELLS);
    Grid grid(cells);
    size_t chained = 0;
    for (int number = 0; number < STEPS; number++) {
        TRACKWAY_REGION_BEGIN("step");
        chained += grid.chained();
        grid.step(number);
        TRACKWAY_REGION_END("step");
    }
    printf("fluid cells %zu chained %zu sum %lld\n", cells, chained, grid.checksum());
    return 0;
}
