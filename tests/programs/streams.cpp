// Streams of C++ in all their states: what it prints must not depend on whose code they run.
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>

struct Grouped : std::numpunct<char> {
    char do_thousands_sep() const override { return '\''; }
    std::string do_grouping() const override { return "\3"; }
    char do_decimal_point() const override { return ','; }
    std::string do_truename() const override { return "ja"; }
    std::string do_falsename() const override { return "nein"; }
};

// Gives one character at a time, and fails after so many.
struct Slow : std::streambuf {
    Slow(const char *text, int most) : text(text), most(most) {}
    int underflow() override {
        if (most-- == 0)
            throw std::runtime_error("no more");
        if (!*text)
            return traits_type::eof();
        one = *text++;
        setg(&one, &one, &one + 1);
        return static_cast<unsigned char>(one);
    }
    const char *text;
    int most;
    char one = 0;
};

static void state(const std::ios &stream) {
    std::cout << " [" << stream.eof() << stream.fail() << stream.bad() << "]\n";
}

static void numbers(std::ostream &out) {
    out << 0 << ' ' << -17 << ' ' << 4000000000u << ' ' << std::numeric_limits<long>::min() << ' ' << 1234567890123ULL;
    out << '\n' << std::hex << std::showbase << 255 << ' ' << std::oct << 8 << std::dec << ' ' << std::setw(8) << 42;
    out << std::left << std::setfill('*') << std::setw(8) << -42 << std::internal << std::setw(8) << -42 << '\n';
    out << std::right << 0.1 << ' ' << 1e300 << ' ' << std::fixed << std::setprecision(3) << 2.5f << ' ' << 1234567.891;
    out << ' ' << std::scientific << 3.25L << ' ' << std::defaultfloat << 1.0 / 3 << ' ' << std::hexfloat << 1.5
        << '\n';
    out << std::defaultfloat << true << ' ' << std::boolalpha << false << std::noboolalpha << ' ' << 'x' << "text"
        << std::endl;
    out << std::string(40, 'z') << ' ' << static_cast<const void *>(nullptr) << std::uppercase << std::hex << 48879
        << '\n';
    out << std::dec << std::nouppercase << std::noshowbase << std::setfill(' ');
}

template <typename Number> static void parse(const char *text) {
    std::istringstream in(text);
    Number value{};
    while (in >> value)
        std::cout << value << ' ';
    state(in);
}

static void lines(const std::string &text, char end) {
    std::istringstream in(text);
    std::string line = "before";
    while (std::getline(in, line, end))
        std::cout << '(' << line.size() << ' ' << line.substr(0, 20) << ')';
    std::cout << " then " << line.size();
    state(in);
}

static void words(std::istream &in) {
    std::string word = "before";
    in >> std::setw(3) >> word;
    std::cout << word << '|';
    while (in >> word)
        std::cout << word.size() << ' ' << word.substr(0, 10) << '|';
    state(in);
}

static void slow(const char *text, int most, bool throws) {
    Slow buffer(text, most);
    std::istream in(&buffer);
    std::string line, word;
    try {
        if (throws)
            in.exceptions(std::ios::badbit);
        std::getline(in, line);
        in >> word;
        std::cout << line << '/' << word;
    } catch (const std::exception &error) {
        std::cout << "thrown " << error.what() << ' ' << line << '/' << word;
    }
    state(in);
}

static void files(const char *path) {
    std::ofstream(path) << "first line\nsecond 42 3.5 word\n\nlast";
    std::ifstream in(path);
    std::string line, word;
    int whole = 0;
    double real = 0;
    std::getline(in, line);
    in >> word >> whole >> real;
    std::cout << line << '|' << word << whole << real << ' ' << in.tellg();
    in.ignore(100, '\n');
    char few[4];
    in.getline(few, sizeof few);
    in.getline(few, sizeof few);
    std::cout << ' ' << std::strlen(few);
    state(in);
    in.clear();
    in.seekg(6);
    std::cout << static_cast<char>(in.peek()) << in.get();
    state(in);
    std::fstream both(path, std::ios::in | std::ios::out | std::ios::app);
    both << " more";
    both.seekg(0);
    std::cout << both.rdbuf() << '\n';
}

int main(int, char **arguments) {
    numbers(std::cout);
    std::ostringstream out;
    out.imbue(std::locale(std::locale::classic(), new Grouped));
    numbers(out);
    out << std::boolalpha << true << false << ' ' << 1234567 << '\n';
    std::cout << out.str();
    parse<int>("1 -2 0x10 99999999999");
    parse<unsigned short>("65535 65536");
    parse<long>("  12 x");
    parse<double>("1.5 -2e10 .25 1e999");
    parse<float>("3.25 nan");
    parse<bool>("0 1 2");
    parse<char>("a b  c");
    parse<void *>("0x10 zz");
    std::istringstream grouped("1'234'567 2'3 ja");
    grouped.imbue(std::locale(std::locale::classic(), new Grouped));
    long number = 0;
    grouped >> number;
    std::cout << number;
    state(grouped);
    lines("one\ntwo\n\nthree", '\n');
    lines("", '\n');
    lines("\n", '\n');
    lines(std::string(300, 'a') + "," + std::string(5, 'b') + ",", ',');
    std::istringstream in("abcdef  ghi\t" + std::string(500, 'j') + "\n k ");
    words(in);
    std::istringstream nothing("   ");
    words(nothing);
    slow("hello world\nand more", 100, true);
    slow("hello", 3, false);
    slow("hello", 3, true);
    files(arguments[1]);
    std::stringstream both;
    both << 1 << ' ' << 2;
    int a = 0, b = 0;
    both >> a >> b;
    std::cout << a + b << ' ' << both.str() << ' '
              << dynamic_cast<std::iostream *>(static_cast<std::ostream *>(&both))->good();
    state(both);
    return 0;
}
