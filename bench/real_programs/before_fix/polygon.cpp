// earcut: cuts a star with holes into triangles, several times: how many there are.
#include "mapbox/earcut.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Ring = std::vector<std::array<double, 2>>;

static Ring star(double x, double y, double radius, int corners) {
    Ring ring;
    for (int i = 0; i < corners; i++) {
        const double angle = 6.283185307179586 * i / corners, length = i % 2 ? radius : radius * 0.8;
        ring.push_back({{x + length * std::cos(angle), y + length * std::sin(angle)}});
    }
    return ring;
}

int main(int count, char **words) {
    if (count < 3)
        return 2;
    const int corners = std::atoi(words[1]), rounds = std::atoi(words[2]);
    std::vector<Ring> polygon = {star(0, 0, 1000, corners)};
    for (int i = 0; i < 40; i++)
        polygon.push_back(star(-500 + i % 8 * 140, -300 + i / 8 * 140, 50, corners / 100));
    size_t triangles = 0;
    for (int i = 0; i < rounds; i++)
        triangles += mapbox::earcut<uint32_t>(polygon).size() / 3;
    std::printf("%zu\n", triangles);
}
