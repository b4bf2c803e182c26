#include "Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Process.h"

#include <optional>

using namespace llvm;

namespace trackway {

static Error invalid(StringRef Pair) {
    return createStringError(
        inconvertibleErrorCode(),
        "TRACKWAY_PASS_OPTIONS: '" + Pair +
            "' is not understood; known are oracle=0|1, only-oracle=0|1, calls=0|1, order=0|1, library=0|1, loops=0|1, "
            "count=0|1, region=GLOB, place=start|early|late, ignorelist=FILE, allocators=FILE, library-effects=FILE, "
            "values=PATTERN");
}

static std::optional<bool> parseBool(StringRef Value) {
    return StringSwitch<std::optional<bool>>(Value).Case("0", false).Case("1", true).Default(std::nullopt);
}

static std::optional<Place> parsePlace(StringRef Value) {
    return StringSwitch<std::optional<Place>>(Value)
        .Case("start", Place::Start)
        .Case("early", Place::Early)
        .Case("late", Place::Late)
        .Default(std::nullopt);
}

template <typename T> static bool assign(T &Target, std::optional<T> Value) {
    if (Value)
        Target = *Value;
    return Value.has_value();
}

static bool apply(Options &O, StringRef Key, StringRef Value) {
    if (Key == "oracle")
        return assign(O.Oracle, parseBool(Value));
    if (Key == "only-oracle")
        return assign(O.OracleOnly, parseBool(Value));
    if (Key == "calls")
        return assign(O.RecordCalls, parseBool(Value));
    if (Key == "loops")
        return assign(O.SplitLoops, parseBool(Value));
    if (Key == "order")
        return assign(O.RecordOrder, parseBool(Value));
    if (Key == "library")
        return assign(O.RecordLibrary, parseBool(Value));
    if (Key == "count")
        return assign(O.Count, parseBool(Value));
    if (Key == "region" && !Value.empty())
        return O.Regions.push_back(Value.str()), true;
    if (Key == "place")
        return assign(O.Where, parsePlace(Value));
    if (Key == "ignorelist" && !Value.empty())
        return O.IgnoreLists.push_back(Value.str()), true;
    if (Key == "allocators" && !Value.empty())
        return O.AllocatorFiles.push_back(Value.str()), true;
    if (Key == "library-effects" && !Value.empty())
        return O.LibraryFiles.push_back(Value.str()), true;
    if (Key == "values" && !Value.empty())
        return O.Values.push_back(Value.str()), true;
    return false;
}

// Splits at colons, except those after a backslash, which is left out.
static std::vector<std::string> splitPairs(StringRef Text) {
    std::vector<std::string> Pairs(1);
    for (size_t I = 0; I < Text.size(); ++I) {
        if (Text[I] == ':')
            Pairs.emplace_back();
        else
            Pairs.back() += Text[I] == '\\' && Text.substr(I + 1).starts_with(":") ? Text[++I] : Text[I];
    }
    return Pairs;
}

Expected<Options> Options::parse(StringRef Text) {
    Options O;
    for (StringRef Pair : splitPairs(Text)) {
        if (Pair.empty())
            continue;
        auto [Key, Value] = Pair.split('=');
        if (!apply(O, Key, Value))
            return invalid(Pair);
    }
    return O;
}

Expected<Options> Options::fromEnvironment() {
    return parse(sys::Process::GetEnv("TRACKWAY_PASS_OPTIONS").value_or(""));
}

} // namespace trackway
