// Functions of a program that only pass on what the C library's allocator gives or takes.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

namespace trackway {

/// Whether a function could be one of these, by its type: it takes sizes and gives memory, or takes memory.
bool isLikeAllocator(const clang::FunctionDecl *Function);

/// "malloc" or "calloc" if a function gives the memory that one call of it gave, of the size that its own parameters
/// say, and does something else only where there was none. "free" if it does nothing but pass its parameter on to it.
/// Else empty.
llvm::StringRef passesOn(const clang::FunctionDecl *Function, clang::ASTContext &Context);

} // namespace trackway
