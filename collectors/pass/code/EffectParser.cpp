#include "code/EffectParser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

using namespace llvm;

namespace trackway {

ArrayRef<ExtentHelper> extentHelpers() {
    static constexpr ExtentHelper All[] = {
        {"length", 1, 1, true, false},   {"wide_length", 1, 1, true, false},   {"difference", 2, 1, false, false},
        {"mismatch", 2, 1, true, false}, {"case_mismatch", 2, 1, true, false}, {"integer", 1, 1, false, false},
        {"real", 1, 0, false, false},    {"block", 1, 0, false, true},         {"copied", 1, 1, false, true},
    };
    return All;
}

const ExtentHelper &helperOf(const EffectExpression &Extent) {
    return *find_if(extentHelpers(), [&](const ExtentHelper &H) { return H.Name == Extent.Helper; });
}

namespace {

class Parser {
  public:
    explicit Parser(StringRef Line) : Line(Line), Rest(Line) {}

    Expected<EffectLine> run() {
        EffectLine Result;
        do
            Result.Names.push_back(functionName());
        while (take(","));
        do
            Result.Rule.push_back(effect());
        while (!Failed && !isAtEnd());
        if (Failed)
            return createStringError(inconvertibleErrorCode(), *Failed);
        return Result;
    }

  private:
    // ---- Words and signs ----

    bool isAtEnd() {
        Rest = Rest.ltrim();
        return Rest.empty();
    }

    bool take(StringRef Sign) {
        Rest = Rest.ltrim();
        return Rest.consume_front(Sign);
    }

    StringRef word() {
        Rest = Rest.ltrim();
        StringRef Word = Rest.take_while([](char C) { return isAlnum(C) || C == '_' || C == '$' || C == '.'; });
        Rest = Rest.drop_front(Word.size());
        return Word;
    }

    void fail(const Twine &Wanted) {
        if (Failed)
            return;
        StringRef Found = Rest.ltrim();
        Failed = ("expected " + Wanted + " " + (Found.empty() ? Twine("at the end") : "before '" + Found + "'")).str();
    }

    void want(StringRef Sign) {
        if (!take(Sign))
            fail("'" + Sign + "'");
    }

    std::string functionName() {
        StringRef Name = word();
        if (Name.empty())
            fail("the name of a function");
        return Name.str();
    }

    // ---- Effects ----

    LibraryEffect effect() {
        LibraryEffect E;
        StringRef Before = Rest, Verb = word();
        auto Kind = StringSwitch<std::optional<LibraryEffect::Kind>>(Verb)
                        .Case("read", LibraryEffect::Kind::Read)
                        .Case("write", LibraryEffect::Kind::Write)
                        .Case("allocate", LibraryEffect::Kind::Allocate)
                        .Default(std::nullopt);
        if (Verb == "format")
            return format();
        if (!Kind) {
            Rest = Before;
            fail("read(ADDRESS, LENGTH), write(ADDRESS, LENGTH), allocate(ADDRESS, LENGTH) or format(argN, argN)");
            return E;
        }
        E.K = *Kind;
        want("(");
        E.Pointer = expression();
        want(",");
        E.Length = expression();
        want(")");
        if (takeWord("if"))
            E.Condition.push_back(sum());
        return E;
    }

    LibraryEffect format() {
        LibraryEffect E;
        E.K = LibraryEffect::Kind::Format;
        want("(");
        E.Pointer = argument();
        want(",");
        E.Length = number(argument().Number);
        want(")");
        return E;
    }

    EffectExpression argument() {
        EffectExpression E = expression();
        if (E.O != EffectOp::Argument)
            fail("an argument, argN");
        return E;
    }

    bool takeWord(StringRef Wanted) {
        StringRef Before = Rest;
        if (word() == Wanted)
            return true;
        Rest = Before;
        return false;
    }

    // ---- Expressions ----

    static EffectExpression make(EffectOp O, std::vector<EffectExpression> Operands) {
        EffectExpression E;
        E.O = O;
        E.Operands = std::move(Operands);
        return E;
    }

    EffectExpression expression() {
        if (++Depth > MaxDepth)
            fail("a shorter expression");
        if (Failed)
            return {};
        EffectExpression E = sum();
        if (take("?")) {
            EffectExpression Then = expression();
            want(":");
            EffectExpression Else = expression();
            E = make(EffectOp::Choose, {std::move(E), std::move(Then), std::move(Else)});
        }
        --Depth;
        return E;
    }

    EffectExpression sum() {
        EffectExpression E = product();
        while (!Failed) {
            if (take("+"))
                E = make(EffectOp::Add, {std::move(E), product()});
            else if (take("-"))
                E = make(EffectOp::Subtract, {std::move(E), product()});
            else
                break;
        }
        return E;
    }

    EffectExpression product() {
        EffectExpression E = atom();
        while (!Failed && take("*"))
            E = make(EffectOp::Multiply, {std::move(E), atom()});
        return E;
    }

    EffectExpression atom() {
        if (take("(")) {
            EffectExpression E = expression();
            want(")");
            return E;
        }
        StringRef Before = Rest, Word = word();
        EffectExpression E;
        if (Word == "result") {
            E.O = EffectOp::Result;
            return E;
        }
        if (!Word.empty() && !Word.getAsInteger(10, E.Number))
            return E;
        if (StringRef Position = Word; Position.consume_front("arg") && !Position.getAsInteger(10, E.Number)) {
            E.O = EffectOp::Argument;
            return E;
        }
        if (!Word.empty() && take("("))
            if (auto Called = call(Word))
                return *Called;
        Rest = Before;
        fail("argN, result, a number, or one of the functions min, at, string, wide_string, length, wide_length, "
             "difference, mismatch, case_mismatch, integer, real, block, copied");
        return E;
    }

    std::optional<EffectExpression> call(StringRef Name) {
        std::vector<EffectExpression> Given;
        do
            Given.push_back(expression());
        while (take(","));
        want(")");
        if (Name == "min" && Given.size() == 2)
            return make(EffectOp::Min, std::move(Given));
        if (Name == "at" && Given.size() == 1)
            return make(EffectOp::At, std::move(Given));
        if (Name == "string")
            return string("length", 1, std::move(Given));
        if (Name == "wide_string")
            return string("wide_length", WideBytes, std::move(Given));
        return extent(Name, std::move(Given));
    }

    static EffectExpression number(int64_t Number) {
        EffectExpression E;
        E.Number = Number;
        return E;
    }

    // A string with its end, if that comes before the limit; in bytes.
    static std::optional<EffectExpression> string(StringRef Helper, int64_t Bytes,
                                                  std::vector<EffectExpression> Given) {
        std::vector<EffectExpression> Limit(Given.size() == 2 ? 1 : 0, Given.back());
        auto Length = extent(Helper, std::move(Given));
        if (!Length)
            return std::nullopt;
        EffectExpression E = make(EffectOp::Add, {std::move(*Length), number(1)});
        if (!Limit.empty())
            E = make(EffectOp::Min, {std::move(E), std::move(Limit.front())});
        return Bytes == 1 ? E : make(EffectOp::Multiply, {std::move(E), number(Bytes)});
    }

    static bool isOfResult(const EffectExpression &E) {
        return E.O == EffectOp::Result || any_of(E.Operands, isOfResult);
    }

    static std::optional<EffectExpression> extent(StringRef Name, std::vector<EffectExpression> Given) {
        const auto *Helper = find_if(extentHelpers(), [&](const ExtentHelper &H) { return H.Name == Name; });
        if (Helper == extentHelpers().end())
            return std::nullopt;
        if (Helper->LastIsLimit && Given.size() + 1 == Helper->Pointers + Helper->Numbers)
            Given.push_back(number(-1));
        if (Given.size() != Helper->Pointers + Helper->Numbers || (Helper->BeforeCall && any_of(Given, isOfResult)))
            return std::nullopt;
        EffectExpression E = make(EffectOp::Extent, std::move(Given));
        E.Helper = Name.str();
        return E;
    }

    static constexpr int64_t WideBytes = 4; // of wchar_t, on all processors that are supported
    static constexpr unsigned MaxDepth = 50;

    StringRef Line, Rest;
    unsigned Depth = 0;
    std::optional<std::string> Failed;
};

} // namespace

Expected<EffectLine> parseEffectLine(StringRef Line) { return Parser(Line).run(); }

} // namespace trackway
