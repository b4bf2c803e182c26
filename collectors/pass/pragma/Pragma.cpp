// A plug-in for clang (-fplugin=): `#pragma trackway begin NAME` and `#pragma trackway end NAME` stand for the marks of
// trackway.h. Without it compilers warn of an unknown pragma at most.
#include "clang/Lex/Pragma.h"
#include "clang/Basic/DiagnosticLex.h"
#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/Token.h"

#include <memory>
#include <string>

using namespace clang;

namespace {

class RegionPragma : public PragmaHandler {
  public:
    RegionPragma() : PragmaHandler("trackway") {}

    void HandlePragma(Preprocessor &PP, PragmaIntroducer, Token &First) override {
        Token T;
        PP.LexUnexpandedToken(T);
        std::string Verb = T.is(tok::eod) ? "" : PP.getSpelling(T);
        if (Verb != "begin" && Verb != "end")
            return complain(PP, First, "expected '#pragma trackway begin NAME' or '#pragma trackway end NAME'");
        std::string Name = restOfLine(PP);
        if (Name.empty())
            return complain(PP, First, "the name of a region is missing");
        insert(PP, First.getLocation(), Verb, Name);
    }

  private:
    static void complain(Preprocessor &PP, const Token &At, StringRef Text) {
        DiagnosticsEngine &Diagnostics = PP.getDiagnostics();
        unsigned Id = Diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "trackway: %0");
        Diagnostics.Report(At.getLocation(), Id) << Text;
    }

    static std::string restOfLine(Preprocessor &PP) {
        std::string Text;
        Token T;
        for (PP.LexUnexpandedToken(T); T.isNot(tok::eod); PP.LexUnexpandedToken(T)) {
            if (!Text.empty() && T.hasLeadingSpace())
                Text += ' ';
            Text += PP.getSpelling(T);
        }
        return Text;
    }

    // { void mark(const char *) __attribute__((nothrow)) __asm__("__trackway_begin_region"); mark("NAME"); }
    static void insert(Preprocessor &PP, SourceLocation Where, StringRef Verb, StringRef Name) {
        Stream Out(PP, Where);
        std::string Mark = ("__trackway_" + Verb + "_mark").str();
        Out.sign(tok::l_brace).word("void").word(Mark).sign(tok::l_paren).word("const").word("char").sign(tok::star);
        Out.sign(tok::r_paren).word("__asm__").sign(tok::l_paren).text(("__trackway_" + Verb + "_region").str());
        Out.sign(tok::r_paren).word("__attribute__").sign(tok::l_paren).sign(tok::l_paren).word("nothrow");
        Out.sign(tok::r_paren).sign(tok::r_paren).sign(tok::semi);
        Out.word(Mark).sign(tok::l_paren).text(Name).sign(tok::r_paren).sign(tok::semi).sign(tok::r_brace);
        Out.enter();
    }

    // Tokens that the parser reads next.
    class Stream {
      public:
        Stream(Preprocessor &PP, SourceLocation Where) : PP(PP), Where(Where) {}

        Stream &sign(tok::TokenKind Kind) { return add(Kind, tok::getPunctuatorSpelling(Kind)), *this; }

        Stream &word(StringRef Text) {
            IdentifierInfo *Info = PP.getIdentifierInfo(Text);
            add(Info->getTokenID(), Text).setIdentifierInfo(Info);
            return *this;
        }

        Stream &text(StringRef Text) {
            std::string Quoted = "\"";
            for (char Letter : Text) {
                if (Letter == '"' || Letter == '\\')
                    Quoted += '\\';
                Quoted += Letter;
            }
            add(tok::string_literal, Quoted + '"');
            return *this;
        }

        void enter() {
            auto Array = std::make_unique<Token[]>(Tokens.size());
            std::copy(Tokens.begin(), Tokens.end(), Array.get());
            PP.EnterTokenStream(std::move(Array), Tokens.size(), /*DisableMacroExpansion=*/true, /*IsReinject=*/false);
        }

      private:
        // The token has a spelling, so that it can also be printed (-E, -save-temps).
        Token &add(tok::TokenKind Kind, StringRef Spelling) {
            Token T;
            T.startToken();
            T.setKind(Kind == tok::string_literal ? Kind : tok::unknown); // only literals have data of their own
            PP.CreateString(Spelling, T, Where, Where);
            T.setKind(Kind);
            T.setFlag(Token::LeadingSpace);
            Tokens.push_back(T);
            return Tokens.back();
        }

        Preprocessor &PP;
        SourceLocation Where;
        std::vector<Token> Tokens;
    };
};

PragmaHandlerRegistry::Add<RegionPragma> Registered("trackway", "marks of regions of interest");

} // namespace
