// The body of a table, compressed as docs/format.md, section 2, says: tables make up a quarter of a program else.
#pragma once

#include <string>

namespace trackway {

// Compresses the body in place; false if it stays as it is: it is small, or LLVM was built without zstd.
bool packBody(std::string &Body);

} // namespace trackway
