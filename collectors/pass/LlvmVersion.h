// Where the versions of LLVM that the pass supports, 16 to 22, differ: here and nowhere else. Elsewhere only what all
// of them offer is used.
#ifndef TRACKWAY_LLVMVERSION_H
#define TRACKWAY_LLVMVERSION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#if LLVM_VERSION_MAJOR < 16
#error "Trackway's pass needs LLVM 16 or newer"
#endif

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

#if LLVM_VERSION_MAJOR >= 17
#include "llvm/Support/xxhash.h"
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

#if LLVM_VERSION_MAJOR >= 19
#include "llvm/IR/DebugProgramInstruction.h"
#endif

namespace trackway {

// XXH3-64. LLVM has its own since 17.
inline uint64_t contentHash(llvm::StringRef Bytes) {
#if LLVM_VERSION_MAJOR >= 17
    return llvm::xxh3_64bits(Bytes);
#else
    return XXH3_64bits(Bytes.data(), Bytes.size());
#endif
}

// Weights of a branch whose first way is hardly ever taken. MDBuilder has a function for it since 18.
inline llvm::MDNode *unlikely(llvm::LLVMContext &C) {
    return llvm::MDBuilder(C).createBranchWeights(1, (1U << 20) - 1);
}

// An estimate of how often a block is executed; it was no number of its own before 18.
inline double frequencyOf(const llvm::BlockFrequencyInfo &Frequencies, const llvm::BasicBlock &BB) {
#if LLVM_VERSION_MAJOR >= 18
    auto Entry = Frequencies.getEntryFreq().getFrequency();
#else
    auto Entry = Frequencies.getEntryFreq();
#endif
    return static_cast<double>(Frequencies.getBlockFreq(&BB).getFrequency()) / static_cast<double>(Entry ? Entry : 1);
}

// Intrinsics that clang wraps the members of a coroutine's awaiter in since 19.
inline bool isAwaitSuspend(llvm::Intrinsic::ID Id) {
#if LLVM_VERSION_MAJOR >= 19
    return Id == llvm::Intrinsic::coro_await_suspend_void || Id == llvm::Intrinsic::coro_await_suspend_bool ||
           Id == llvm::Intrinsic::coro_await_suspend_handle;
#else
    return false;
#endif
}

// A barrier around constant offsets, since 18.
inline bool isStaticOffsetBarrier(llvm::Intrinsic::ID Id) {
#if LLVM_VERSION_MAJOR >= 18
    return Id == llvm::Intrinsic::preserve_static_offset;
#else
    return false;
#endif
}

// Whether an `or` adds: no bit is set on both sides. Since 18 the instruction says so itself.
inline bool isDisjointOr(const llvm::BinaryOperator &Or) {
#if LLVM_VERSION_MAJOR >= 18
    return llvm::cast<llvm::PossiblyDisjointInst>(Or).isDisjoint();
#else
    return llvm::haveNoCommonBitsSet(Or.getOperand(0), Or.getOperand(1), Or.getModule()->getDataLayout());
#endif
}

// The language's code in DWARF, without its version, which 22 may keep beside it.
inline llvm::dwarf::SourceLanguage languageOf(const llvm::DICompileUnit &Unit) {
#if LLVM_VERSION_MAJOR >= 22
    llvm::DISourceLanguageName Language = Unit.getSourceLanguage();
    if (Language.hasVersionedName()) {
        auto Name = static_cast<llvm::dwarf::SourceLanguageName>(Language.getName());
        return llvm::dwarf::toDW_LANG(Name, Language.getVersion()).value_or(llvm::dwarf::DW_LANG_lo_user);
    }
    return static_cast<llvm::dwarf::SourceLanguage>(Language.getName());
#else
    return static_cast<llvm::dwarf::SourceLanguage>(Unit.getSourceLanguage());
#endif
}

// The neighbours of an instruction in its block but for what describes values, which is no instruction any more
// since 22.
inline llvm::Instruction *previousInstruction(const llvm::Instruction &I) {
#if LLVM_VERSION_MAJOR >= 22
    return const_cast<llvm::Instruction *>(I.getPrevNode());
#else
    return const_cast<llvm::Instruction *>(I.getPrevNonDebugInstruction());
#endif
}

inline llvm::Instruction *nextInstruction(const llvm::Instruction &I) {
#if LLVM_VERSION_MAJOR >= 22
    return const_cast<llvm::Instruction *>(I.getNextNode());
#else
    return const_cast<llvm::Instruction *>(I.getNextNonDebugInstruction());
#endif
}

// Says of an argument no more that the function doesn't keep it.
inline void forgetNoCapture(llvm::Argument &A) {
#if LLVM_VERSION_MAJOR >= 21
    A.removeAttr(llvm::Attribute::Captures);
#else
    A.removeAttr(llvm::Attribute::NoCapture);
#endif
}

// Takes the data layout from what it expands since 22.
inline llvm::SCEVExpander expanderOf(llvm::ScalarEvolution &Evolution, const char *Name) {
#if LLVM_VERSION_MAJOR >= 22
    return llvm::SCEVExpander(Evolution, Name);
#else
    return llvm::SCEVExpander(Evolution, Evolution.getDataLayout(), Name);
#endif
}

#if LLVM_VERSION_MAJOR >= 21
using ComparisonPredicate = llvm::CmpPredicate;
using VariableOffsets = llvm::SmallMapVector<llvm::Value *, llvm::APInt, 4>;
#else
using ComparisonPredicate = llvm::ICmpInst::Predicate;
using VariableOffsets = llvm::MapVector<llvm::Value *, llvm::APInt>;
#endif

// Calls Visit with each intrinsic of class Marker that describes the value, and from 19 on with each record of kind
// RecordType. Both have getVariable, getExpression and getDebugLoc.
template <typename Marker, typename Visitor> void visitDebugIntrinsics(const llvm::Value &V, Visitor Visit) {
    auto *Local = llvm::ValueAsMetadata::getIfExists(const_cast<llvm::Value *>(&V));
    auto *Operand = Local ? llvm::MetadataAsValue::getIfExists(V.getContext(), Local) : nullptr;
    if (!Operand)
        return;
    for (llvm::User *U : Operand->users())
        if (auto *Found = llvm::dyn_cast<Marker>(U))
            Visit(*Found);
}

// Instructions carry records that describe values since 19.
inline void dropDebugRecords(llvm::Instruction &I) {
#if LLVM_VERSION_MAJOR >= 19
    I.dropDbgRecords();
#endif
}

template <typename Visitor> void visitDebugDeclares(const llvm::Value &V, Visitor Visit) {
#if LLVM_VERSION_MAJOR >= 19
    for (llvm::DbgVariableRecord *Record : llvm::findDVRDeclares(const_cast<llvm::Value *>(&V)))
        Visit(*Record);
#endif
    visitDebugIntrinsics<llvm::DbgDeclareInst>(V, Visit);
}

// Values that are described together with others are left out.
template <typename Visitor> void visitDebugValues(const llvm::Value &V, Visitor Visit) {
#if LLVM_VERSION_MAJOR >= 19
    llvm::SmallVector<llvm::DbgVariableRecord *, 4> Records;
#if LLVM_VERSION_MAJOR >= 22
    llvm::findDbgValues(const_cast<llvm::Value *>(&V), Records);
#else
    llvm::SmallVector<llvm::DbgValueInst *, 4> Intrinsics;
    llvm::findDbgValues(Intrinsics, const_cast<llvm::Value *>(&V), &Records);
#endif
    for (const llvm::DbgVariableRecord *Record : Records)
        Visit(*Record);
#endif
    visitDebugIntrinsics<llvm::DbgValueInst>(V, Visit);
}

// Assignments to what a slot holds, where the optimiser tracks them.
template <typename Visitor> void visitDebugAssignments(const llvm::Instruction &Slot, Visitor Visit) {
#if LLVM_VERSION_MAJOR >= 19
    for (llvm::DbgVariableRecord *Record : llvm::at::getDVRAssignmentMarkers(&Slot))
        Visit(*Record);
#endif
#if LLVM_VERSION_MAJOR < 22
    for (llvm::DbgAssignIntrinsic *Intrinsic : llvm::at::getAssignmentMarkers(&Slot))
        Visit(*Intrinsic);
#endif
}

} // namespace trackway

#endif
