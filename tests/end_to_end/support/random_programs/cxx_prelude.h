// What every generated C++ program includes: a checksum, an allowance that ends the program in time, classes that tell
// when they are made and destroyed, and class templates for it to instantiate.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

inline u64 checksum = 0xcbf29ce484222325;
inline void mix(u64 value) { checksum = (checksum ^ value) * 0x100000001b3; }
inline void mix(const std::string &text) {
    for (char letter : text)
        mix(static_cast<u64>(static_cast<unsigned char>(letter)));
}

// Calls that may still be made; without any left, functions return at once.
inline int allowance = 300;
inline bool allowed() { return --allowance > 0; }

struct Failure {
    u64 code;
    explicit Failure(u64 code) : code(code) {}
    virtual ~Failure() { mix(code); }
    virtual u64 weight() const { return code; }
};
struct Deeper : Failure {
    u16 part[3];
    explicit Deeper(u64 code) : Failure(code), part{u16(code), u16(code >> 16), 7} {}
    u64 weight() const override { return code * 3 + part[1]; }
};
struct Named : std::runtime_error {
    explicit Named(u64 code) : std::runtime_error("named " + std::to_string(code % 1000)) {}
};

// Made and destroyed in an order that the checksum shows.
struct Guard {
    u64 id;
    explicit Guard(u64 id) : id(id) { mix(id + 1); }
    Guard(const Guard &other) : id(other.id + 100) { mix(id); }
    Guard(Guard &&other) noexcept : id(std::exchange(other.id, 0)) { mix(id + 2); }
    Guard &operator=(const Guard &other) {
        id = other.id ^ 5;
        return *this;
    }
    ~Guard() { mix(id ^ 0x55); }
};

template <typename T> u64 number(const T &value) {
    if constexpr (std::is_convertible_v<T, u64>)
        return static_cast<u64>(value);
    else if constexpr (std::is_same_v<T, std::string>)
        return value.size() * 31 + (value.empty() ? 0 : static_cast<unsigned char>(value.back()));
    else
        return value.id;
}

template <typename T> T made(u64 seed) {
    if constexpr (std::is_same_v<T, std::string>)
        return std::string(seed % 40, static_cast<char>('a' + seed % 26));
    else
        return T(seed);
}

template <typename T, unsigned Size> class Ring {
  public:
    void push(T item) {
        if (used == Size)
            throw Deeper(Size);
        items[(first + used++) % Size] = std::move(item);
    }
    T pop() {
        if (used == 0)
            throw Named(first);
        --used;
        return std::move(*items[std::exchange(first, (first + 1) % Size)]);
    }
    template <typename Use> void each(Use use) {
        for (unsigned i = 0; i < used; ++i)
            use(*items[(first + i) % Size]);
    }

  private:
    std::array<std::optional<T>, Size> items;
    unsigned first = 0, used = 0;
};

template <typename Key, typename Value> class Tree {
    struct Node {
        Key key;
        Value value;
        std::unique_ptr<Node> less, more;
        Node(Key key, Value value) : key(std::move(key)), value(std::move(value)) {}
    };

  public:
    Value &at(Key key, u64 seed) {
        std::unique_ptr<Node> *place = &root;
        while (*place && (*place)->key != key)
            place = key < (*place)->key ? &(*place)->less : &(*place)->more;
        if (!*place)
            *place = std::make_unique<Node>(key, made<Value>(seed));
        return (*place)->value;
    }
    u64 sum() const { return sum(root.get()); }

  private:
    static u64 sum(const Node *node) {
        return node ? number(node->key) + 3 * number(node->value) + sum(node->less.get()) + 5 * sum(node->more.get())
                    : 1;
    }
    std::unique_ptr<Node> root;
};

template <typename First, typename... Others> u64 total(const First &first, const Others &...others) {
    if constexpr (sizeof...(others) == 0)
        return number(first);
    else
        return number(first) * 7 + total(others...);
}
