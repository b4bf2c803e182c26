// Nodes of sets and lists, and strings, changed at random. With the argument `check`, libstdc++ checks its trees itself
// after each change.
#include <cstdio>
#include <list>
#include <set>
#include <string>
#include <vector>

typedef std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>> Tree;

static unsigned next_random() {
    static unsigned seed = 1;
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

// Ends with the number of the first thing that is wrong; 0: none.
static int change_trees(int rounds, bool checks) {
    const int values = 300;
    for (int round = 0; round < rounds; round++) {
        Tree tree;
        std::vector<bool> is_in(values);
        for (int i = 0; i < 3 * values; i++) {
            int value = next_random() % values;
            bool adds = next_random() % 100 < 30u + round * 5 % 60;
            if (adds)
                tree._M_insert_unique(value);
            else
                tree.erase(value);
            is_in[value] = adds;
            if (checks && !tree.__rb_verify())
                return 1;
        }
        size_t count = 0;
        Tree::iterator at = tree.begin();
        for (int value = 0; value < values; value++)
            if (is_in[value]) {
                if (*at != value)
                    return 2;
                ++at;
                count++;
            }
        if (at != tree.end() || count != tree.size())
            return 3;
        for (; at != tree.begin(); count--)
            --at;
        if (count != 0)
            return 4;
    }
    return 0;
}

static unsigned long sum_of(const std::list<int> &list, unsigned long sum) {
    for (int value : list)
        sum = sum * 31 + value;
    return sum * 31 + list.size();
}

static unsigned long change_lists(int rounds) {
    unsigned long sum = 0;
    for (int round = 0; round < rounds; round++) {
        std::list<int> a, b, empty;
        for (int i = 0; i < 50; i++) {
            a.push_back(i * 37 % 50);
            b.push_front(i + round);
        }
        a.sort();
        b.reverse();
        std::list<int> c(a);
        c.splice(c.begin(), b, b.begin(), --b.end());
        a.swap(b);
        a.swap(c);
        b.merge(c);
        empty.swap(a);
        a.swap(empty);
        std::list<int>().swap(empty);
        b.remove(3);
        b.unique();
        sum = sum_of(c, sum_of(b, sum_of(a, sum)));
    }
    return sum;
}

static unsigned long change_strings(int rounds) {
    std::string text;
    unsigned long sum = 0;
    for (int round = 0; round < rounds; round++) {
        text += "some words ";
        text.append(std::to_string(round));
        text.insert(round % text.size(), "inserted");
        text.replace(text.size() / 2, 5, "other and longer");
        sum += text.find("99") + text.rfind('9') + text.compare(0, 8, "inserted");
        if (text.size() > 2000)
            text.erase(10, 1500);
    }
    return sum + std::hash<std::string>()(text);
}

int main(int argc, char **) {
    int wrong = change_trees(argc > 1 ? 12 : 60, argc > 1);
    printf("%d %lu %lu\n", wrong, change_lists(50), change_strings(1000));
    return wrong;
}
