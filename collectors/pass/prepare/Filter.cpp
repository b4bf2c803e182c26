#include "prepare/Filter.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SpecialCaseList.h"
#include "llvm/Support/VirtualFileSystem.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr StringRef OurSection = "trackway";

Error listError(const Twine &Message) { return createStringError(inconvertibleErrorCode(), "trackway: " + Message); }

// `mainfile:` and `global:` mean something to the sanitizers, which may share a list with us.
bool isKnown(StringRef Prefix) {
    return Prefix == "fun" || Prefix == "src" || Prefix == "type" || Prefix == "mainfile" || Prefix == "global";
}

bool isOurSection(StringRef Glob) {
    Expected<GlobPattern> Pattern = GlobPattern::create(Glob);
    if (Pattern)
        return Pattern->match(OurSection);
    consumeError(Pattern.takeError());
    return Glob.contains(OurSection);
}

// Lines that LLVM reads well and that are never used: they are reported instead of ignored.
Error checkPrefixes(StringRef File) {
    auto Buffer = MemoryBuffer::getFile(File);
    if (!Buffer)
        return listError("ignore list: can't read " + File + ": " + Buffer.getError().message());
    bool IsOurs = true; // what stands before any section is in all of them
    for (line_iterator Line(**Buffer, /*SkipBlanks=*/true, '#'); !Line.is_at_eof(); ++Line) {
        StringRef Text = Line->trim();
        if (Text.consume_front("[")) {
            IsOurs = isOurSection(Text.take_until([](char Letter) { return Letter == ']'; }));
            continue;
        }
        StringRef Prefix = Text.split(':').first;
        if (IsOurs && !Text.empty() && !isKnown(Prefix))
            return listError("ignore list: " + File + ", line " + Twine(Line.line_number()) + ": unknown prefix '" +
                             Prefix + ":'; known are fun:, src: and type:");
    }
    return Error::success();
}

} // namespace

Filter::Filter(std::unique_ptr<SpecialCaseList> List) : List(std::move(List)) {}
Filter::Filter(Filter &&) = default;
Filter &Filter::operator=(Filter &&) = default;
Filter::~Filter() = default;

Expected<Filter> Filter::read(const std::vector<std::string> &Files) {
    if (Files.empty())
        return Filter(nullptr);
    std::string Problem;
    auto List = SpecialCaseList::create(Files, *vfs::getRealFileSystem(), Problem);
    if (!List)
        return listError("ignore list: " + Problem);
    for (const std::string &File : Files)
        if (Error Wrong = checkPrefixes(File))
            return Wrong;
    return Filter(std::move(List));
}

Filter::Verdict Filter::ask(StringRef Prefix, StringRef Query) const {
    if (!List)
        return Verdict::Silent;
    if (List->inSection(OurSection, Prefix, Query, "allow") || List->inSection(OurSection, Prefix, Query, "sanitize"))
        return Verdict::Allow;
    return List->inSection(OurSection, Prefix, Query) ? Verdict::Exclude : Verdict::Silent;
}

Filter::Verdict Filter::askNames(StringRef LinkageName, StringRef SourceName) const {
    Verdict ByLinkage = ask("fun", LinkageName);
    Verdict BySource = SourceName.empty() ? Verdict::Silent : ask("fun", SourceName);
    return std::max(ByLinkage, BySource);
}

Filter::Verdict Filter::askFile(StringRef Directory, StringRef File) const {
    Verdict AsGiven = ask("src", File);
    if (Directory.empty() || sys::path::is_absolute(File))
        return AsGiven;
    SmallString<256> Absolute(Directory);
    sys::path::append(Absolute, File);
    sys::path::remove_dots(Absolute, /*remove_dot_dot=*/true);
    return std::max(AsGiven, ask("src", Absolute));
}

bool Filter::excludes(Verdict ByName, StringRef Directory, StringRef File) const {
    Verdict Decision = ByName == Verdict::Silent ? askFile(Directory, File) : ByName;
    return Decision == Verdict::Exclude;
}

bool Filter::skipsFunction(const Function &F) const {
    if (F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) || F.hasFnAttribute(IgnoreAttribute))
        return true;
    if (!List)
        return false;
    const DISubprogram *Program = F.getSubprogram();
    if (!Program)
        return excludes(ask("fun", F.getName()), "", F.getParent()->getSourceFileName());
    return excludes(askNames(F.getName(), Program->getName()), Program->getDirectory(), Program->getFilename());
}

bool Filter::skipsAccess(const Instruction &Access, const AccessName &Name) const {
    if (!List)
        return false;
    if (ask("type", Name.ObjectType) == Verdict::Exclude)
        return true;
    const DILocation *Location = Access.getDebugLoc();
    return Location && Location->getInlinedAt() && skipsInlinedText(*Location);
}

bool Filter::skipsInlinedText(const DILocation &Location) const {
    const DISubprogram *Program = Location.getScope()->getSubprogram();
    Verdict ByName = Verdict::Silent;
    if (Program)
        ByName = askNames(Program->getLinkageName(), Program->getName());
    return excludes(ByName, Location.getDirectory(), Location.getFilename());
}

} // namespace trackway
