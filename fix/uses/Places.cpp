#include "Places.h"

#include "clang/Basic/FileEntry.h"
#include "clang/Lex/Lexer.h"

using namespace clang;
using namespace llvm;

namespace trackway {

CharSourceRange Places::written(SourceRange Range) const {
    return Lexer::makeFileCharRange(CharSourceRange::getTokenRange(Range), Sources, Language);
}

json::Object Places::of(SourceRange Range) const {
    CharSourceRange Written = written(Range);
    bool IsMacro = Written.isInvalid();
    if (IsMacro)
        Written = Lexer::getAsCharRange(Sources.getExpansionRange(Range), Sources, Language);
    json::Object Place;
    FileID File = Sources.getFileID(Written.getBegin());
    if (OptionalFileEntryRef Entry = Sources.getFileEntryRefForID(File)) {
        StringRef Real = Entry->getFileEntry().tryGetRealPathName();
        Place["file"] = (Real.empty() ? Entry->getName() : Real).str();
    }
    Place["begin"] = Sources.getFileOffset(Written.getBegin());
    Place["end"] = Sources.getFileOffset(Written.getEnd());
    Place["line"] = Sources.getLineNumber(File, Sources.getFileOffset(Written.getBegin()));
    if (IsMacro)
        Place["macro"] = true;
    return Place;
}

json::Value Places::span(SourceRange Range) const {
    CharSourceRange Written = written(Range);
    if (Written.isInvalid())
        return nullptr;
    return json::Array{Sources.getFileOffset(Written.getBegin()), Sources.getFileOffset(Written.getEnd())};
}

bool Places::isInSystemHeader(SourceLocation Location) const {
    return Sources.isInSystemHeader(Sources.getExpansionLoc(Location));
}

json::Object Places::use(StringRef Kind, SourceRange Range, json::Object More) const {
    json::Object Use = of(Range);
    Use["kind"] = Kind;
    if (isInSystemHeader(Range.getBegin()))
        Use["system"] = true;
    for (auto &Entry : More)
        Use[Entry.first] = std::move(Entry.second);
    return Use;
}

} // namespace trackway
