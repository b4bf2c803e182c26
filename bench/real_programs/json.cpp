// A document of records: built as a text, parsed into a tree, searched and changed, written, and parsed once more as
// events.
#include "rapidjson/document.h"
#include "rapidjson/prettywriter.h"
#include "rapidjson/reader.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

static uint32_t state = 1;

static uint32_t next_number() { return (state = state * 1664525u + 1013904223u) >> 8; }

static std::string make_text(int records) {
    rapidjson::StringBuffer buffer;
    rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
    writer.StartArray();
    for (int i = 0; i < records; i++) {
        writer.StartObject();
        writer.Key("id"), writer.Int(i);
        writer.Key("name"), writer.String(("name \"" + std::to_string(next_number() % 1000) + "\"\n").c_str());
        writer.Key("weight"), writer.Double(next_number() / 1000.0);
        writer.Key("flags"), writer.StartArray();
        for (uint32_t flags = next_number() % 6; flags > 0; flags--)
            writer.Bool(flags % 2);
        writer.EndArray();
        writer.Key("parent"), writer.StartObject();
        writer.Key("id"), writer.Uint(next_number()), writer.Key("none"), writer.Null();
        writer.EndObject(), writer.EndObject();
    }
    writer.EndArray();
    return {buffer.GetString(), buffer.GetSize()};
}

struct Counter : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Counter> {
    std::map<std::string, uint64_t> keys;
    uint64_t strings = 0, numbers = 0;
    bool Key(const char *text, rapidjson::SizeType length, bool) { return ++keys[std::string(text, length)] > 0; }
    bool String(const char *, rapidjson::SizeType length, bool) { return (strings += length) > 0; }
    bool Default() { return ++numbers > 0; }
};

static std::string changed(const std::string &text, double *weight) {
    rapidjson::Document document;
    if (document.Parse(text.data(), text.size()).HasParseError())
        std::exit(1);
    auto &allocator = document.GetAllocator();
    for (auto &record : document.GetArray()) {
        *weight += record["weight"].GetDouble();
        if (record["parent"]["id"].GetUint() % 3 == 0)
            record.AddMember("children", record["flags"].Size(), allocator);
        else
            record.RemoveMember("flags");
    }
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
    document.Accept(writer);
    return {buffer.GetString(), buffer.GetSize()};
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    std::string text = make_text(std::atoi(argv[1]));
    for (int i = 0; i < std::atoi(argv[2]); i++) {
        double weight = 0;
        std::string shorter = changed(text, &weight);
        Counter counter;
        rapidjson::StringStream stream(shorter.c_str());
        if (!rapidjson::Reader().Parse(stream, counter))
            return 1;
        std::printf("json %zu %zu %.3f %llu %llu %llu\n", text.size(), shorter.size(), weight,
                    (unsigned long long)counter.strings, (unsigned long long)counter.numbers,
                    (unsigned long long)counter.keys["children"]);
    }
    return 0;
}
