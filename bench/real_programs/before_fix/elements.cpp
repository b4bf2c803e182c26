// tinyxml2: reads a document of random numbers again and again, and adds them up.
#include "random.h"
#include "tinyxml2.h"

#include <cstdio>
#include <cstdlib>
#include <string>

static std::string document_of(unsigned elements) {
    std::string text = "<list>";
    uint64_t state = 1;
    for (unsigned i = 0; i < elements; i++)
        text += "<row id=\"" + std::to_string(i) + "\"><number>" + std::to_string(next_number(&state) % 1000000) +
                "</number></row>";
    return text + "</list>";
}

static uint64_t sum_of(const tinyxml2::XMLElement *list) {
    uint64_t sum = 0;
    for (const auto *row = list->FirstChildElement(); row; row = row->NextSiblingElement())
        sum += row->UnsignedAttribute("id") + row->FirstChildElement()->UnsignedText();
    return sum;
}

int main(int count, char **words) {
    if (count < 3)
        return 2;
    const std::string text = document_of(std::strtoul(words[1], nullptr, 10));
    uint64_t sum = 0;
    for (unsigned i = 0; i < std::strtoul(words[2], nullptr, 10); i++) {
        tinyxml2::XMLDocument document;
        if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS)
            return 1;
        sum += sum_of(document.RootElement());
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
