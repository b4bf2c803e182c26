#include "names/AccessShapes.h"
#include "names/Attribution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace trackway {

namespace {

StringRef spelled(VariableKind Kind) {
    switch (Kind) {
    case VariableKind::Unknown:
        return "unknown";
    case VariableKind::Global:
        return "global";
    case VariableKind::Static:
        return "static";
    case VariableKind::Local:
        return "local";
    case VariableKind::Parameter:
        return "parameter";
    case VariableKind::Expression:
        return "expression";
    case VariableKind::CompilerMade:
        return "compiler-made";
    }
    return "";
}

void print(raw_ostream &Out, const Instruction &I, const AccessPart &Part, const AccessName &Name) {
    Out << I.getFunction()->getName() << ' ' << I.getOpcodeName() << " part=" << Part.Part << " variable='"
        << Name.Variable << "' kind=" << spelled(Name.Kind) << " object='" << Name.ObjectType << "' field='"
        << Name.Field << "' value='" << Name.ValueType << "'\n";
}

void print(raw_ostream &Out, const CallBase &Call, const AllocationName &Name) {
    if (Name.ElementType.empty() && Name.Variable.empty())
        return;
    Out << Call.getFunction()->getName() << " allocation element='" << Name.ElementType << "' size=" << Name.ElementSize
        << " variable='" << Name.Variable << "'\n";
}

void print(raw_ostream &Out, const TypeLayout &Type) {
    Out << "type '" << Type.Name << "' size=" << Type.Size << " align=" << Type.Alignment << '\n';
    for (const MemberLayout &Member : Type.Members) {
        Out << "  member '" << Member.Name << "' type='" << Member.Type << "' bits=" << Member.OffsetInBits << '+'
            << Member.SizeInBits << " align=" << Member.Alignment << " kind=" << unsigned(Member.Kind);
        if (Member.Nested)
            Out << " nested=" << *Member.Nested;
        Out << '\n';
    }
}

} // namespace

PreservedAnalyses NamePrinterPass::run(Module &M, ModuleAnalysisManager &) {
    Namer Names(M);
    std::vector<std::string> Objects;
    for (const Function &F : M)
        for (const Instruction &I : instructions(F)) {
            for (const AccessPart &Part : accessParts(I, M.getDataLayout())) {
                AccessName Name = Names.name(I, Part.Pointer, Part.Shape.Size, Part.Part);
                print(Out, I, Part, Name);
                Objects.push_back(Name.ObjectType);
            }
            if (const auto *Call = dyn_cast<CallBase>(&I); Call && Call->getType()->isPointerTy())
                print(Out, *Call, Names.allocation(*Call));
        }
    for (const TypeLayout &Type : Names.layouts(Objects))
        print(Out, Type);
    return PreservedAnalyses::all();
}

} // namespace trackway
