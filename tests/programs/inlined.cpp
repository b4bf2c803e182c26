// An inlined member function, a namespace, a base class and a reference, for names of binaries.
#include <cstdio>
#include <vector>

namespace shop {

struct Item {
    long id;
    double price;
};

class Basket {
  public:
    void add(const Item &item) { items.push_back(item); }
    __attribute__((always_inline)) inline double priceOf(std::size_t index) const { return items[index].price; }
    std::size_t size() const { return items.size(); }

  private:
    std::vector<Item> items;
};

} // namespace shop

__attribute__((noinline)) static double priceOfAll(const shop::Basket &basket) {
    double sum = 0;
    for (std::size_t index = 0; index < basket.size(); index++)
        sum += basket.priceOf(index);
    return sum;
}

int main() {
    shop::Basket basket;
    for (long id = 0; id < 3000; id++)
        basket.add({id, id * 0.25});
    double sum = 0;
    for (int round = 0; round < 20; round++)
        sum += priceOfAll(basket);
    std::printf("%.2f\n", sum);
    return 0;
}
