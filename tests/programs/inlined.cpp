// Inlined member functions, a namespace and a reference, for the names of binaries.
#include <cstdio>
#include <vector>

namespace shop {

struct Item {
    long id;
    long sold;
    double price;
};

class Basket {
  public:
    void add(const Item &item) { items.push_back(item); }
    __attribute__((always_inline)) void sell(std::size_t index) { items[index].sold += items[index].id & 3; }
    std::size_t size() const { return items.size(); }
    double value(std::size_t index) const { return items[index].price * items[index].sold; }

  private:
    std::vector<Item> items;
};

} // namespace shop

__attribute__((noinline)) static void sellAll(shop::Basket &basket) {
    for (std::size_t index = 0; index < basket.size(); index++)
        basket.sell(index);
}

int main() {
    shop::Basket basket;
    for (long id = 0; id < 3000; id++)
        basket.add({id, 0, id * 0.25});
    for (int round = 0; round < 20; round++)
        sellAll(basket);
    double sum = 0;
    for (std::size_t index = 0; index < basket.size(); index++)
        sum += basket.value(index);
    std::printf("%.2f\n", sum);
    return 0;
}
