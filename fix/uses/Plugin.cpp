// A plug-in for clang (-fplugin=): writes what a translation unit does with a structure to a file, as JSON. With an
// empty name, it writes the calls of allocators. -fplugin-arg-TrackwayUses-type=NAME and
// -fplugin-arg-TrackwayUses-output=FILE name both. With -fplugin-arg-TrackwayUses-line=LINE and
// -fplugin-arg-TrackwayUses-distance=ITERATIONS it writes the look-ups of that line of any file instead, and without a
// distance the calls by which that line adds to vectors. With -fplugin-arg-TrackwayUses-pool=NAME it writes how C++
// makes objects of that structure.
#include "Growths.h"
#include "LookUps.h"
#include "Pools.h"
#include "Uses.h"

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>
#include <vector>

using namespace clang;

namespace {

struct Request {
    std::string Type, Pool, Output;
    /// 0: uses of the type, nothing of a line.
    unsigned Line = 0;
    /// 0: what adds to vectors, not look-ups.
    unsigned Distance = 0;

    llvm::json::Array found(ASTContext &Context) const {
        if (!Pool.empty()) {
            trackway::Pools Pools(Context, Pool);
            Pools.TraverseDecl(Context.getTranslationUnitDecl());
            return Pools.take();
        }
        if (Line == 0) {
            trackway::Uses Uses(Context, Type);
            Uses.TraverseDecl(Context.getTranslationUnitDecl());
            return Uses.take();
        }
        if (Distance == 0) {
            trackway::Growths Growths(Context, Line);
            Growths.TraverseDecl(Context.getTranslationUnitDecl());
            return Growths.take();
        }
        trackway::LookUps LookUps(Context, Line, Distance);
        LookUps.TraverseDecl(Context.getTranslationUnitDecl());
        return LookUps.take();
    }
};

class Consumer : public ASTConsumer {
  public:
    explicit Consumer(Request Asked) : Asked(std::move(Asked)) {}

    void HandleTranslationUnit(ASTContext &Context) override {
        std::error_code Error;
        llvm::raw_fd_ostream Out(Asked.Output, Error);
        Out << llvm::json::Value(Asked.found(Context)) << '\n';
        Out.close();
        if (!Error)
            Error = Out.error();
        Out.clear_error();
        if (Error) {
            DiagnosticsEngine &Diagnostics = Context.getDiagnostics();
            unsigned Id = Diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "trackway: %0: %1");
            Diagnostics.Report(Id) << Asked.Output << Error.message();
        }
    }

  private:
    Request Asked;
};

class Action : public PluginASTAction {
  protected:
    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &, llvm::StringRef) override {
        return std::make_unique<Consumer>(Asked);
    }

    bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &Arguments) override {
        bool AreNumbers = true;
        for (llvm::StringRef Argument : Arguments) {
            if (Argument.consume_front("type="))
                Asked.Type = Argument.str();
            else if (Argument.consume_front("pool="))
                Asked.Pool = Argument.str();
            else if (Argument.consume_front("output="))
                Asked.Output = Argument.str();
            else if (Argument.consume_front("line="))
                AreNumbers &= !Argument.getAsInteger(10, Asked.Line);
            else if (Argument.consume_front("distance="))
                AreNumbers &= !Argument.getAsInteger(10, Asked.Distance);
        }
        return AreNumbers && !Asked.Output.empty();
    }

    ActionType getActionType() override { return AddBeforeMainAction; }

  private:
    Request Asked;
};

FrontendPluginRegistry::Add<Action> Registered("TrackwayUses", "what the code does with a structure");

} // namespace
