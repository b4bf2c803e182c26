// A plug-in for clang (-fplugin=): writes what a translation unit does with a structure to a file, as JSON. With an
// empty name, it writes the calls of allocators. -fplugin-arg-TrackwayUses-type=NAME and
// -fplugin-arg-TrackwayUses-output=FILE name both.
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
    std::string Type, Output;
};

class Consumer : public ASTConsumer {
  public:
    explicit Consumer(Request Asked) : Asked(std::move(Asked)) {}

    void HandleTranslationUnit(ASTContext &Context) override {
        trackway::Uses Uses(Context, Asked.Type);
        Uses.TraverseDecl(Context.getTranslationUnitDecl());
        std::error_code Error;
        llvm::raw_fd_ostream Out(Asked.Output, Error);
        Out << llvm::json::Value(Uses.take()) << '\n';
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
        for (llvm::StringRef Argument : Arguments) {
            if (Argument.consume_front("type="))
                Asked.Type = Argument.str();
            else if (Argument.consume_front("output="))
                Asked.Output = Argument.str();
        }
        return !Asked.Output.empty();
    }

    ActionType getActionType() override { return AddBeforeMainAction; }

  private:
    Request Asked;
};

FrontendPluginRegistry::Add<Action> Registered("TrackwayUses", "what the code does with a structure");

} // namespace
