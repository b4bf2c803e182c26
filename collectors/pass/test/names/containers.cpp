// What lies in a container goes by the container's name and `[]`, whatever functions lead there.
// RUN: clang++ -O1 -std=c++17 %fresh %s -o - | %latenames 2>&1 | FileCheck %s
// RUN: clang++ -O0 -std=c++17 %fresh %s -o - | %names 2>&1 | FileCheck --check-prefix=FRESH %s
#include <array>
#include <deque>
#include <memory>
#include <valarray>
#include <vector>

struct Point { double x, y; Point *next; };

struct Own {
    double *items;
    unsigned long count;
    double &operator[](unsigned long i) { return items[i]; }
    double *begin() { return items; }
    double *end() { return items + count; }
};

struct Elsewhere {
    double *items;
    double &operator[](unsigned long i); // nobody sees what it does
    double &operator()(unsigned long row, unsigned long column);
};

struct Solver {
    int steps;
    std::vector<int> items;
    Own own;
    int sum(unsigned n) { return items[n]; }
    double own_sum(unsigned n) { return own[n]; }
};

extern "C" {
int vec_index(std::vector<int> &v, int i) { return v[i]; }
// CHECK: vec_index load part=0 variable='v[]' kind=parameter
// FRESH: vec_index load part=0 variable='v[]' kind=parameter

int vec_at(std::vector<int> &v, int i) { return v.at(i); }
// CHECK: vec_at load part=0 variable='v[]'
// FRESH: vec_at load part=0 variable='v[]'

double vec_field(std::vector<Point> &points, int i) { return points[i].y; }
// CHECK: vec_field load part=0 variable='points[]' kind=parameter object='Point' field='y'
// FRESH: vec_field load part=0 variable='points[]' kind=parameter object='Point' field='y'

// What an element points to isn't in the container.
double vec_pointee(std::vector<Point *> &points, int i) { return points[i]->x + points[i]->next->y; }
// CHECK-DAG: vec_pointee load part=0 variable='points[]' kind=parameter object='' field='' value='Point *'
// CHECK-DAG: vec_pointee load part=0 variable='*points[]' kind=expression object='Point' field='x'
// CHECK-DAG: vec_pointee load part=0 variable='*points[]->next' kind=expression object='Point' field='y'

int nested(std::vector<std::vector<int>> &grid, int i, int j) { return grid[i][j]; }
// CHECK: nested load part=0 variable='grid[][]'
// FRESH: nested load part=0 variable='grid[][]'

int range_by_value(std::vector<int> &v) { int sum = 0; for (int x : v) sum += x; return sum; }
// CHECK: range_by_value load part=0 variable='v[]'
// FRESH: range_by_value load part=0 variable='v[]'

double range_by_reference(std::vector<Point> &v) { double sum = 0; for (auto &p : v) sum += p.x; return sum; }
// CHECK: range_by_reference load part=0 variable='v[]' kind=parameter object='Point' field='x'
// FRESH: range_by_reference load part=0 variable='v[]' kind=parameter object='Point' field='x'

int range_of_array(int i) { static int table[5] = {1, 2}; table[i]++; int sum = 0; for (int x : table) sum += x; return sum; }
// CHECK-NOT: __begin
// CHECK: range_of_array load part=0 variable='table' kind=static

double range_of_own(Own &v) { double sum = 0; for (double x : v) sum += x; return sum; }
// CHECK: range_of_own load part=0 variable='v[]'
// FRESH: range_of_own load part=0 variable='v[]'

int range_of_deque(std::deque<int> &d) { int sum = 0; for (int x : d) sum += x; return sum; }
// CHECK: range_of_deque load part=0 variable='d[]'
// FRESH: range_of_deque load part=0 variable='d[]'

int array_index(std::array<int, 8> &a, int i) { return a[i]; }
// CHECK: array_index load part=0 variable='a[]'

int deque_index(std::deque<int> &d, int i) { return d[i]; }
// CHECK: deque_index load part=0 variable='d[]'

int unique_index(std::unique_ptr<int[]> &u, int i) { return u[i]; }
// CHECK: unique_index load part=0 variable='u[]'

double unique_field(std::unique_ptr<Point> &u) { return u->y; }
// CHECK: unique_field load part=0 variable='u' kind=parameter object='Point' field='y'

double valarray_index(std::valarray<double> &w, int i) { return w[i]; }
// CHECK: valarray_index load part=0 variable='w[]'

// A variable of the source keeps its name.
int named_iterator(std::vector<int> &v) { int sum = 0; for (auto it = v.begin(); it != v.end(); ++it) sum += *it; return sum; }
// CHECK: named_iterator load part=0 variable='it'

double first(std::vector<double> &v) { return *v.begin(); }
// CHECK: first load part=0 variable='v[]'
double data(std::vector<double> &v, int i) { return v.data()[i]; }
// CHECK: data load part=0 variable='v[]'

double unseen_index(Elsewhere &e, int i) { return e[i]; }
// CHECK: unseen_index load part=0 variable='e[]' kind=parameter object='' field='' value='double'
double unseen_call(Elsewhere &matrix, int i, int j) { return matrix(i, j); }
// CHECK: unseen_call load part=0 variable='matrix[]'

int member(Solver &s, int i) { return s.sum(i) + s.items[i + 1]; }
// CHECK-DAG: member load part=0 variable='this->items[]' kind=expression
// CHECK-DAG: member load part=0 variable='s.items[]' kind=expression
double own_member(Solver &s, int i) { return s.own_sum(i); }
// CHECK: own_member load part=0 variable='this->own[]' kind=expression
}
