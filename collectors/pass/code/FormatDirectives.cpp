#include "code/FormatDirectives.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr int64_t WideBytes = 4; // of wchar_t, on all processors that are supported
constexpr size_t MostRanges = 100;

EffectExpression number(int64_t Number) {
    EffectExpression E;
    E.Number = Number;
    return E;
}

EffectExpression argument(int64_t Position) {
    EffectExpression E;
    E.O = EffectOp::Argument;
    E.Number = Position;
    return E;
}

EffectExpression made(EffectOp O, EffectExpression Left, EffectExpression Right) {
    EffectExpression E;
    E.O = O;
    E.Operands = {std::move(Left), std::move(Right)};
    return E;
}

// With its end, if that comes before the limit.
EffectExpression stringAt(int64_t Position, StringRef Helper, std::optional<EffectExpression> Limit) {
    EffectExpression Length = made(EffectOp::Extent, argument(Position), Limit.value_or(number(-1)));
    Length.Helper = Helper.str();
    EffectExpression WithEnd = made(EffectOp::Add, std::move(Length), number(1));
    return Limit ? made(EffectOp::Min, std::move(WithEnd), std::move(*Limit)) : WithEnd;
}

// Goes through the directives and keeps count of the arguments that they take.
class Directives {
  public:
    Directives(const CallBase &Call, StringRef Text, int64_t First) : Call(Call), Rest(Text), Next(First) {}

    std::vector<LibraryEffect> ranges() {
        while (Ranges.size() < MostRanges) {
            Rest = Rest.drop_until([](char C) { return C == '%'; });
            if (Rest.empty() || !directive())
                break;
        }
        return std::move(Ranges);
    }

  private:
    // False if it is none whose arguments are known, as if they have positions.
    bool directive() {
        Rest = Rest.drop_front();
        if (Rest.consume_front("%"))
            return true;
        Rest = Rest.drop_while([](char C) { return StringRef("-+ #0'I").contains(C); });
        if (!takeNumber() || Rest.starts_with("$"))
            return false;
        std::optional<EffectExpression> Precision;
        if (Rest.consume_front(".")) {
            Precision = takeNumber();
            if (!Precision)
                return false;
        }
        StringRef Size = Rest.take_while([](char C) { return StringRef("hlqLjztZ").contains(C); });
        Rest = Rest.drop_front(Size.size());
        return conversion(Size, std::move(Precision));
    }

    // Digits, none for 0, or an argument.
    std::optional<EffectExpression> takeNumber() {
        if (Rest.consume_front("*"))
            return isInteger() ? std::optional(argument(Next++)) : std::nullopt;
        StringRef Digits = Rest.take_while([](char C) { return C >= '0' && C <= '9'; });
        Rest = Rest.drop_front(Digits.size());
        int64_t Value = 0;
        if (!Digits.empty() && Digits.getAsInteger(10, Value))
            return std::nullopt;
        return number(Value);
    }

    bool conversion(StringRef Size, std::optional<EffectExpression> Precision) {
        char C = Rest.empty() ? '\0' : Rest.front();
        Rest = Rest.drop_front(C ? 1 : 0);
        if (C == 'm')
            return true;
        if (!C || !StringRef("diouxXeEfFgGaAcspnCS").contains(C) || Next >= Call.arg_size())
            return false;
        int64_t Position = Next++;
        if (C != 's' && C != 'S' && C != 'n')
            return true;
        if (!Call.getArgOperand(Position)->getType()->isPointerTy())
            return false;
        if (C == 'n')
            add(LibraryEffect::Kind::Write, Position, number(bytesOf(Size)));
        else if (C == 's' && Size != "l")
            add(LibraryEffect::Kind::Read, Position, stringAt(Position, "length", std::move(Precision)));
        else if (!Precision) // which limits the bytes that the characters become
            add(LibraryEffect::Kind::Read, Position,
                made(EffectOp::Multiply, stringAt(Position, "wide_length", {}), number(WideBytes)));
        return true;
    }

    void add(LibraryEffect::Kind K, int64_t Position, EffectExpression Length) {
        Ranges.push_back({K, argument(Position), std::move(Length), {argument(Position)}});
    }

    static int64_t bytesOf(StringRef Size) {
        if (Size.starts_with("h"))
            return Size == "hh" ? 1 : 2;
        return Size.empty() ? 4 : 8;
    }

    bool isInteger() const { return Next < Call.arg_size() && Call.getArgOperand(Next)->getType()->isIntegerTy(); }

    const CallBase &Call;
    StringRef Rest;
    int64_t Next;
    std::vector<LibraryEffect> Ranges;
};

} // namespace

std::vector<LibraryEffect> rangesOfFormat(const CallBase &Call, int64_t Format, int64_t First) {
    StringRef Text;
    if (!Call.getFunctionType()->isVarArg() || !getConstantStringInfo(Call.getArgOperand(Format), Text))
        return {};
    return Directives(Call, Text, First).ranges();
}

} // namespace trackway
