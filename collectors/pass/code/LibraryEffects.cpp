#include "code/LibraryEffects.h"

#include "code/Allocators.h"
#include "code/EffectParser.h"
#include "code/FormatDirectives.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace trackway {

static constexpr StringRef HelperPrefix = "__trackway_extent_";

std::string nameOfHelper(StringRef Helper) { return (HelperPrefix + Helper).str(); }

bool findsExtent(const CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    return Callee && Callee->getName().starts_with(HelperPrefix);
}

LibraryEffects::LibraryEffects() {
    for (line_iterator Line(MemoryBufferRef(libraryTable(), "library"), true); !Line.is_at_eof(); ++Line)
        if (Error E = addLine(*Line))
            report_fatal_error(std::move(E));
}

Expected<LibraryEffects> LibraryEffects::load(const std::vector<std::string> &Files) {
    LibraryEffects Result;
    for (const std::string &File : Files)
        if (Error E = Result.addFile(File))
            return std::move(E);
    return Result;
}

Error LibraryEffects::addLine(StringRef Line) {
    auto Parsed = parseEffectLine(Line);
    if (!Parsed)
        return Parsed.takeError();
    for (const std::string &Name : Parsed->Names)
        Rules[Name] = Parsed->Rule;
    return Error::success();
}

Error LibraryEffects::addFile(const std::string &Path) {
    auto Buffer = MemoryBuffer::getFile(Path);
    if (!Buffer)
        return createStringError(Buffer.getError(),
                                 "library effects file " + Path + ": " + Buffer.getError().message());
    for (line_iterator Line(**Buffer, true, '#'); !Line.is_at_eof(); ++Line) {
        StringRef Text = Line->split('#').first.trim();
        if (Text.empty())
            continue;
        if (Error E = addLine(Text))
            return createStringError(inconvertibleErrorCode(),
                                     "library effects file " + Path + ", line " + Twine(Line.line_number()) + ": " +
                                         toString(std::move(E)) +
                                         "; a line is NAME read(ADDRESS, LENGTH) write(ADDRESS, LENGTH) ..., as in "
                                         "`my_hash read(arg0, arg1)`");
    }
    return Error::success();
}

namespace {

enum class Sort { Pointer, Number, Neither };

Sort sortOf(const Type *T) {
    if (T->isPointerTy() && T->getPointerAddressSpace() == 0)
        return Sort::Pointer;
    return T->isIntegerTy() && T->getIntegerBitWidth() <= 64 ? Sort::Number : Sort::Neither;
}

// Arguments that an ellipsis stands for aren't the ones that a rule means.
Sort sortOfArgument(int64_t Position, const CallBase &Call) {
    bool Exists = Position >= 0 && static_cast<uint64_t>(Position) < Call.getFunctionType()->getNumParams();
    return Exists ? sortOf(Call.getArgOperand(Position)->getType()) : Sort::Neither;
}

Sort sortOf(const EffectExpression &E, const CallBase &Call) {
    auto Of = [&](unsigned I) { return sortOf(E.Operands[I], Call); };
    auto NumberIf = [](bool Fits) { return Fits ? Sort::Number : Sort::Neither; };
    switch (E.O) {
    case EffectOp::Constant:
        return Sort::Number;
    case EffectOp::Argument:
        return sortOfArgument(E.Number, Call);
    case EffectOp::Result:
        return sortOf(Call.getType());
    case EffectOp::At:
        return Of(0) == Sort::Pointer ? Sort::Pointer : Sort::Neither;
    case EffectOp::Add:
        return Of(1) == Sort::Number ? Of(0) : Sort::Neither;
    case EffectOp::Subtract:
        return NumberIf(Of(0) == Of(1) && Of(0) != Sort::Neither);
    case EffectOp::Multiply:
    case EffectOp::Min:
        return NumberIf(Of(0) == Sort::Number && Of(1) == Sort::Number);
    case EffectOp::Choose:
        return Of(0) != Sort::Neither && Of(1) == Of(2) ? Of(1) : Sort::Neither;
    case EffectOp::Extent:
        break;
    }
    const ExtentHelper &Helper = helperOf(E);
    for (unsigned I = 0; I < E.Operands.size(); ++I)
        if (Of(I) != (I < Helper.Pointers ? Sort::Pointer : Sort::Number))
            return Sort::Neither;
    return Sort::Number;
}

bool fits(const LibraryEffect &E, const CallBase &Call) {
    return sortOf(E.Pointer, Call) == Sort::Pointer && sortOf(E.Length, Call) == Sort::Number &&
           all_of(E.Condition, [&](const EffectExpression &C) { return sortOf(C, Call) != Sort::Neither; });
}

// glibc's names for what newer standards changed.
StringRef withoutVersion(StringRef Name) {
    for (StringRef Prefix : {"__isoc99_", "__isoc23_"})
        if (Name.consume_front(Prefix))
            break;
    return Name;
}

} // namespace

Value *originOf(const LibraryEffect &E, const CallBase &Call) {
    const EffectExpression *Base = &E.Pointer;
    while (Base->O != EffectOp::Argument && !Base->Operands.empty())
        Base = &Base->Operands[Base->O == EffectOp::Choose ? 2 : 0];
    return Base->O == EffectOp::Argument ? Call.getArgOperand(Base->Number) : const_cast<CallBase *>(&Call);
}

// What Rust's allocators call for the program is recorded where the program calls them.
static bool isOfRecordedAllocator(const CallBase &Call) {
    return isRustAllocator(Call.getFunction()->getName()) && Call.getCalledFunction()->getName() == "realloc";
}

// A program may have a function of that name with another signature.
std::optional<CallEffects> LibraryEffects::find(const CallBase &Call) const {
    const Function *Callee = Call.getCalledFunction();
    if (!Callee || Callee->isIntrinsic() || !Callee->isDeclarationForLinker() || Call.isMustTailCall() ||
        isa<CallBrInst>(Call) || isOfRecordedAllocator(Call))
        return std::nullopt;
    auto It = Rules.find(rustAllocator(withoutVersion(Callee->getName())));
    if (It == Rules.end() || !all_of(It->second, [&](const LibraryEffect &E) { return fits(E, Call); }))
        return std::nullopt;
    const LibraryRule &Rule = It->second;
    auto IsFormat = [](const LibraryEffect &E) { return E.K == LibraryEffect::Kind::Format; };
    if (none_of(Rule, IsFormat))
        return CallEffects(Rule);
    LibraryRule Ranges;
    for (const LibraryEffect &E : Rule) {
        if (IsFormat(E))
            append_range(Ranges, rangesOfFormat(Call, E.Pointer.Number, E.Length.Number));
        else
            Ranges.push_back(E);
    }
    return CallEffects(std::move(Ranges));
}

} // namespace trackway
