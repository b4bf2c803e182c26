#include "names/SourceChecksum.h"

#include "LlvmVersion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace trackway {

// Readers look at no larger ones.
static constexpr uint64_t MaxFileBytes = 64 << 20;

static std::optional<SourceChecksum> compilersChecksum(const DIFile &File) {
    std::optional<DIFile::ChecksumInfo<StringRef>> Known = File.getChecksum();
    std::string Digest;
    if (!Known || !tryGetFromHex(Known->Value, Digest))
        return std::nullopt;
    if (Known->Kind == DIFile::CSK_MD5 && Digest.size() == 16)
        return SourceChecksum{SourceChecksum::Kind::Md5, Digest};
    if (Known->Kind == DIFile::CSK_SHA256 && Digest.size() == 32)
        return SourceChecksum{SourceChecksum::Kind::Sha256, Digest};
    return std::nullopt;
}

// Whether it is the file that flang compiles. clang's units don't tell: in preprocessed source they bear the name of
// the first line marker.
static bool isCompiledByFlang(const DIFile &File, const Module &M) {
    auto Units = M.debug_compile_units();
    if (Units.empty() || std::next(Units.begin()) != Units.end())
        return false;
    const DICompileUnit &Unit = **Units.begin();
    const DIFile *Main = Unit.getFile();
    return dwarf::isFortran(languageOf(Unit)) && Unit.getProducer().contains("flang") && Main &&
           Main->getFilename() == File.getFilename() && Main->getDirectory() == File.getDirectory();
}

static std::optional<SourceChecksum> ownChecksum(StringRef Path) {
    sys::fs::file_status Status;
    if (sys::fs::status(Path, Status) || !sys::fs::is_regular_file(Status) || Status.getSize() > MaxFileBytes)
        return std::nullopt;
    auto Text = MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!Text)
        return std::nullopt;
    std::array<uint8_t, 32> Digest = SHA256::hash(arrayRefFromStringRef((*Text)->getBuffer()));
    return SourceChecksum{SourceChecksum::Kind::Sha256, std::string(Digest.begin(), Digest.end())};
}

std::optional<SourceChecksum> sourceChecksum(const DIFile &File, StringRef Path, const Module &M) {
    if (auto Known = compilersChecksum(File))
        return Known;
    return isCompiledByFlang(File, M) ? ownChecksum(Path) : std::nullopt;
}

} // namespace trackway
