#include "names/OpenMpNames.h"

#include "LlvmVersion.h"
#include "code/OpenMp.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr StringRef NameAttribute = "trackway.openmp.name", AroundAttribute = "trackway.openmp.around";
constexpr unsigned NameOfSubprogram = 2, LinkageNameOfSubprogram = 3; // operands of DISubprogram

using Kind = OpenMpStart::Kind;

// Compilers leave file, function, line and column for OpenMP's runtime: equal for what one directive became.
const Value *placeOf(const CallBase &Call) {
    const auto *Ident = dyn_cast<GlobalVariable>(Call.getArgOperand(0)->stripPointerCasts());
    const auto *Fields = Ident && Ident->hasInitializer() ? dyn_cast<ConstantStruct>(Ident->getInitializer()) : nullptr;
    return Fields ? Fields->getOperand(Fields->getNumOperands() - 1)->stripPointerCasts() : nullptr;
}

// The kind of work sharing that the call begins, by the flags beside its place.
StringRef sharedWork(const CallBase &Call, bool IsFortran) {
    constexpr uint64_t Sections = 0x400, Distribute = 0x800;
    const auto *Ident = cast<GlobalVariable>(Call.getArgOperand(0)->stripPointerCasts());
    const auto *Flags = dyn_cast<ConstantInt>(cast<ConstantStruct>(Ident->getInitializer())->getOperand(1));
    if (Flags && Flags->getZExtValue() & Sections)
        return " sections";
    if (Flags && Flags->getZExtValue() & Distribute)
        return " distribute";
    return IsFortran ? " do" : " for";
}

bool sharesWork(StringRef Callee) {
    return Callee.starts_with("__kmpc_for_static_init") || Callee.starts_with("__kmpc_dispatch_init") ||
           Callee.starts_with("__kmpc_dist_for_static_init");
}

// If there is debug information, clang splits bodies in two: the inner one is as the author wrote it.
void addParts(const Function &Body, SmallVectorImpl<Function *> &Parts) {
    Parts.push_back(const_cast<Function *>(&Body));
    for (const Instruction &I : instructions(Body))
        if (auto *Call = dyn_cast<CallBase>(&I))
            if (Function *Callee = Call->getCalledFunction(); Callee && Callee->hasLocalLinkage() &&
                                                              Callee->getName().contains("omp_outlined") &&
                                                              !is_contained(Parts, Callee))
                Parts.push_back(Callee);
}

bool isFortran(const Function &F) {
    const DISubprogram *S = F.getSubprogram();
    return S && dwarf::isFortran(languageOf(*S->getUnit()));
}

class Naming {
  public:
    explicit Naming(Module &M) {
        for (const OpenMpStart &Start : openMpStarts(M))
            if (Start.K != Kind::TaskLoop)
                Starts.insert({Start.Body, Start});
            else if (auto *Task = dyn_cast<CallInst>(Start.Call->getArgOperand(2)->stripPointerCasts()))
                Loops.insert(Task);
        for (auto &[Body, Start] : Starts) {
            SmallVector<Function *, 2> OfBody;
            addParts(*Body, OfBody);
            for (Function *Part : OfBody)
                Parts.insert({Part, Body});
        }
    }

    void run() {
        for (auto &[Part, Body] : Parts) {
            std::string Name = nameOf(*Part);
            Part->addFnAttr(NameAttribute, Name);
            Part->addFnAttr(AroundAttribute, around(*Part).getName());
            if (DISubprogram *S = Part->getSubprogram()) {
                S->replaceOperandWith(NameOfSubprogram, MDString::get(Part->getContext(), Name));
                S->replaceOperandWith(LinkageNameOfSubprogram, nullptr);
            }
        }
    }

  private:
    const Function *bodyOf(const Function &F) const { return Parts.lookup(const_cast<Function *>(&F)); }

    const Function &around(const Function &F) const {
        const Function *Body = bodyOf(F);
        return Body ? around(*Starts.find(Body)->second.Call->getFunction()) : F;
    }

    std::string nameOf(const Function &F) {
        if (F.hasFnAttribute(NameAttribute)) // its subprogram is renamed already
            return F.getFnAttribute(NameAttribute).getValueAsString().str();
        const Function *Body = bodyOf(F);
        if (!Body) {
            const DISubprogram *S = F.getSubprogram();
            return (S && !S->getName().empty() ? S->getName() : F.getName()).str();
        }
        const OpenMpStart &Start = Starts.find(Body)->second;
        std::string Name = nameOf(*Start.Call->getFunction()) + ", " + construct(Start);
        if (const DILocation *Where = Start.Call->getDebugLoc())
            Name += " at " + sys::path::filename(Where->getFilename()).str() + ":" + std::to_string(Where->getLine());
        return Name;
    }

    std::string construct(const OpenMpStart &Start) const {
        if (Start.K == Kind::Task)
            return Loops.contains(Start.Call) ? "taskloop" : "task";
        bool IsTeams = Start.Call->getCalledFunction()->getName() == "__kmpc_fork_teams";
        return (IsTeams ? "teams" : "parallel") + combinedWith(Start).str();
    }

    // `parallel for` is one directive, unlike `for` within `parallel`.
    StringRef combinedWith(const OpenMpStart &Start) const {
        SmallVector<Function *, 2> OfBody;
        addParts(*Start.Body, OfBody);
        const Value *Place = placeOf(*Start.Call);
        for (const Function *Part : OfBody)
            for (const Instruction &I : instructions(*Part)) {
                auto *Call = dyn_cast<CallBase>(&I);
                const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
                if (Callee && sharesWork(Callee->getName()) && Place && placeOf(*Call) == Place)
                    return sharedWork(*Call, isFortran(*Start.Call->getFunction()));
            }
        return "";
    }

    DenseMap<const Function *, OpenMpStart> Starts;
    MapVector<Function *, const Function *> Parts; // and their bodies
    DenseSet<const CallInst *> Loops;
};

} // namespace

void nameOpenMpBodies(Module &M) { Naming(M).run(); }

StringRef openMpName(const Function &F) { return F.getFnAttribute(NameAttribute).getValueAsString(); }

// clang's names, and flang's.
bool isMadeForOpenMp(const Function &F) {
    StringRef Name = F.getName();
    return F.hasFnAttribute(NameAttribute) ||
           (F.hasLocalLinkage() &&
            (Name.starts_with(".omp") || Name.contains(".omp_outlined") || Name.contains("..omp_par")));
}

const Function &functionAround(const Function &F) {
    const Function *Around = F.getParent()->getFunction(F.getFnAttribute(AroundAttribute).getValueAsString());
    return Around ? *Around : F;
}

} // namespace trackway
