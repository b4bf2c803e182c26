// Hashes the text of a source file, so that a reader of a trace quotes no other text.
#pragma once

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

#include <optional>
#include <string>

namespace trackway {

struct SourceChecksum {
    // The byte of the table's list 17.
    enum class Kind : uint8_t { Md5 = 1, Sha256 = 2 };

    Kind K;
    std::string Digest;
};

// Only of text that the compiler has read as source: the names in line markers lead to no file. So the checksum is the
// one that clang computed for DWARF 5, or that of the file that flang compiles.
std::optional<SourceChecksum> sourceChecksum(const llvm::DIFile &File, llvm::StringRef Path, const llvm::Module &M);

} // namespace trackway
