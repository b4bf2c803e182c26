// Numbers and strings that streams write and read: stream_numbers COUNT FILE.
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

struct record {
    int id;
    double price;
    std::string name;
};

static std::vector<record> make(int count) {
    std::vector<record> records;
    for (int i = 0; i < count; i++)
        records.push_back({i * 7919 % 100003, i * 0.37 + 1.0 / (i + 1), "name-" + std::to_string(i)});
    return records;
}

static std::string written(const std::vector<record> &records) {
    std::ostringstream out;
    for (const record &r : records)
        out << r.id << ',' << std::setprecision(10) << r.price << ',' << r.name << '\n';
    return out.str();
}

static double read_back(const std::string &text) {
    std::istringstream in(text);
    std::string line;
    double sum = 0;
    while (std::getline(in, line)) {
        std::stringstream fields(line);
        std::string id, price, name;
        std::getline(fields, id, ',');
        std::getline(fields, price, ',');
        fields >> name;
        std::istringstream number(price);
        double value;
        number >> value;
        sum += value + std::stoi(id) + name.size();
    }
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    const int count = std::atoi(argv[1]);
    std::vector<record> records = make(count);
    std::string text = written(records);
    std::cout << text.size() << ' ' << read_back(text) << std::endl;
    {
        std::ofstream file(argv[2]);
        for (auto &r : records)
            file << r.id << ' ' << std::hex << r.id << std::dec << ' ' << r.price << ' ' << r.name << std::endl;
    }
    std::ifstream file(argv[2]);
    long sum = 0;
    double prices = 0;
    int id, hex;
    double price;
    std::string name;
    while (file >> id >> std::hex >> hex >> std::dec >> price >> name) {
        sum += id;
        prices += price;
    }
    std::cout << sum << ' ' << prices << '\n';
}
