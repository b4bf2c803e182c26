#include "code/Allocators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace trackway {

using Op = AllocationOperation;

static AllocatorRule allocates(int Count, int Size) { return {Op::Allocate, Count, Size}; }

static AllocatorRule frees(int Pointer) { return {Op::Free, AllocatorRule::None, AllocatorRule::None, Pointer}; }

static AllocatorRule reallocates(int Old, int Count, int Size) {
    return {Op::Reallocate, Count, Size, AllocatorRule::ReturnValue, Old};
}

Allocators::Allocators() {
    constexpr int None = AllocatorRule::None;
    Rules["malloc"] = allocates(None, 0);
    Rules["calloc"] = allocates(0, 1);
    Rules["aligned_alloc"] = allocates(None, 1);
    Rules["memalign"] = allocates(None, 1);
    Rules["valloc"] = allocates(None, 0);
    Rules["pvalloc"] = allocates(None, 0);
    Rules["mmap"] = allocates(None, 1);
    Rules["mmap64"] = allocates(None, 1);
    Rules["posix_memalign"] = {Op::Allocate, None, 2, 0, None, true};
    Rules["realloc"] = reallocates(0, None, 1);
    Rules["reallocarray"] = reallocates(0, 1, 2);
    // Rust's have the alignment between their sizes.
    Rules["__rust_alloc"] = allocates(None, 0);
    Rules["__rust_alloc_zeroed"] = allocates(None, 0);
    Rules["__rust_realloc"] = reallocates(0, None, 3);
    Rules["__rust_dealloc"] = frees(0);
    for (StringRef Free : {"free", "cfree", "munmap"})
        Rules[Free] = frees(0);
    // operator new and new[]: plain, nothrow, aligned, both.
    for (StringRef New : {"_Znwm", "_Znam"})
        for (StringRef Variant : {"", "RKSt9nothrow_t", "St11align_val_t", "St11align_val_tRKSt9nothrow_t"})
            Rules[(New + Variant).str()] = allocates(None, 0);
    // operator delete and delete[]: plain, sized, nothrow, aligned, and their combinations.
    for (StringRef Delete : {"_ZdlPv", "_ZdaPv"})
        for (StringRef Variant :
             {"", "m", "RKSt9nothrow_t", "St11align_val_t", "mSt11align_val_t", "St11align_val_tRKSt9nothrow_t"})
            Rules[(Delete + Variant).str()] = frees(0);
}

Expected<Allocators> Allocators::load(const std::vector<std::string> &Files) {
    Allocators Result;
    for (const std::string &File : Files)
        if (Error E = Result.addFile(File))
            return std::move(E);
    return Result;
}

static bool parsePosition(StringRef Word, int &Position) {
    if (Word == "-")
        return Position = AllocatorRule::None, true;
    return !Word.getAsInteger(10, Position) && Position >= AllocatorRule::ReturnValue;
}

static std::optional<AllocatorRule> parseRule(ArrayRef<StringRef> Words) {
    AllocatorRule Rule;
    if (Words.size() == 3 && Words[1] == "free") {
        Rule.Operation = Op::Free;
        if (parsePosition(Words[2], Rule.Pointer) && Rule.Pointer >= 0)
            return Rule;
    } else if (Words.size() == 4 && Words[1] == "realloc") {
        Rule.Operation = Op::Reallocate;
        if (parsePosition(Words[2], Rule.Old) && Rule.Old >= 0 && parsePosition(Words[3], Rule.Size))
            return Rule;
    } else if (Words.size() == 4) {
        if (parsePosition(Words[1], Rule.Count) && parsePosition(Words[2], Rule.Size) &&
            parsePosition(Words[3], Rule.Pointer) && Rule.Pointer != AllocatorRule::None) {
            Rule.PointerIsStored = Rule.Pointer >= 0;
            return Rule;
        }
    }
    return std::nullopt;
}

Error Allocators::addFile(const std::string &Path) {
    auto Buffer = MemoryBuffer::getFile(Path);
    if (!Buffer)
        return createStringError(Buffer.getError(), "allocators file " + Path + ": " + Buffer.getError().message());
    for (line_iterator Line(**Buffer, true, '#'); !Line.is_at_eof(); ++Line) {
        SmallVector<StringRef, 4> Words;
        SplitString(Line->split('#').first, Words);
        if (Words.empty())
            continue;
        auto Rule = parseRule(Words);
        if (!Rule)
            return createStringError(inconvertibleErrorCode(),
                                     "allocators file " + Path + ", line " + Twine(Line.line_number()) +
                                         ": expected NAME COUNT SIZE POINTER, NAME free POINTER or NAME realloc OLD "
                                         "SIZE, with argument positions from 0");
        Rules[Words[0]] = *Rule;
    }
    return Error::success();
}

static bool fits(int Position, const CallBase &Call, bool WantsPointer) {
    if (Position == AllocatorRule::None)
        return true;
    Type *Ty = Call.getType();
    if (Position >= 0) {
        if (static_cast<unsigned>(Position) >= Call.arg_size())
            return false;
        Ty = Call.getArgOperand(Position)->getType();
    }
    return WantsPointer ? Ty->isPointerTy() : Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64;
}

// `_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc`: a function of the crate `__rustc`.
StringRef rustAllocator(StringRef LinkageName) {
    size_t Begin = LinkageName.starts_with("_R") && LinkageName.contains("7___rustc") ? LinkageName.rfind("__rust_")
                                                                                      : StringRef::npos;
    return Begin == StringRef::npos ? LinkageName : LinkageName.substr(Begin);
}

bool isRustAllocator(StringRef LinkageName) {
    static constexpr StringRef Operations[] = {"_alloc", "_alloc_zeroed", "_realloc", "_dealloc"};
    return LinkageName.starts_with("_R") && LinkageName.contains("7___rustc") &&
           any_of(Operations, [&](StringRef Operation) {
               return LinkageName.ends_with(("__rust" + Operation).str()) ||
                      LinkageName.ends_with(("__rdl" + Operation).str());
           });
}

// The standard library's allocator is called by recorded code alone, which records the call itself.
static bool isWithinRecorded(const CallBase &Call) {
    StringRef Caller = Call.getFunction()->getName();
    return isRustAllocator(Caller) && Caller.contains("__rdl_");
}

// A program may have a function of that name with another signature.
const AllocatorRule *Allocators::find(const CallBase &Call) const {
    const Function *Callee = Call.getCalledFunction();
    if (!Callee || Callee->isIntrinsic() || isWithinRecorded(Call))
        return nullptr;
    auto It = Rules.find(rustAllocator(Callee->getName()));
    if (It == Rules.end())
        return nullptr;
    const AllocatorRule &Rule = It->second;
    bool Fits = fits(Rule.Pointer, Call, true) && fits(Rule.Old, Call, true) && fits(Rule.Count, Call, false) &&
                fits(Rule.Size, Call, false) && !Call.isMustTailCall();
    return Fits ? &Rule : nullptr;
}

} // namespace trackway
