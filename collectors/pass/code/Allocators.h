// Which calls allocate and free memory.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace trackway {

// The numbers are those of docs/format.md, section 2.
enum class AllocationOperation : uint8_t { Allocate, Free, Reallocate };

// Positions are of arguments, from 0.
struct AllocatorRule {
    static constexpr int None = -2, ReturnValue = -1;

    AllocationOperation Operation = AllocationOperation::Allocate;
    int Count = None;
    int Size = None;
    int Pointer = ReturnValue;    // what was allocated or freed
    int Old = None;               // what was reallocated
    bool PointerIsStored = false; // Pointer is where the function stores the address, as for posix_memalign
};

// A call that allocates or frees, with the values that it is recorded with.
struct AllocationCall {
    llvm::CallBase *Call;
    uint32_t Ordinal;
    AllocationOperation Operation;
    llvm::Instruction *Anchor;
    llvm::Value *Pointer = nullptr;
    llvm::Value *Old = nullptr;
    llvm::Value *Count = nullptr;
    llvm::Value *Size = nullptr;
};

// Rust's allocation function behind a mangled name, `__rust_alloc`; any other name is returned as it is.
llvm::StringRef rustAllocator(llvm::StringRef LinkageName);

// Whether Rust calls this function to allocate or to free: `__rust_alloc`, or the standard library's own that it calls,
// `__rdl_alloc`.
bool isRustAllocator(llvm::StringRef LinkageName);

class Allocators {
  public:
    // The C and C++ allocation functions and mmap, and those of the files. A file has a line for each function:
    //     NAME COUNT SIZE POINTER     allocates: argument positions from 0, `-` for none, POINTER -1: the return value
    //     NAME free POINTER
    //     NAME realloc OLD SIZE
    // `#` starts a comment.
    static llvm::Expected<Allocators> load(const std::vector<std::string> &Files);

    const AllocatorRule *find(const llvm::CallBase &Call) const;

  private:
    Allocators();
    llvm::Error addFile(const std::string &Path);

    llvm::StringMap<AllocatorRule> Rules;
};

} // namespace trackway
