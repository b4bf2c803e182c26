#include "Label.h"
#include "FieldPaths.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr StringRef Domain = "trackway";
constexpr char Separator = '\t'; // no name contains it

std::string encode(Role R, const AccessName &Name) {
    std::string Text;
    Text += static_cast<char>(R);
    Text += static_cast<char>('0' + static_cast<int>(Name.Kind));
    for (StringRef Part :
         {StringRef(Name.Variable), StringRef(Name.ObjectType), StringRef(Name.Field), StringRef(Name.ValueType)}) {
        Text += Separator;
        Text += Part;
    }
    return Text;
}

AccessName decode(StringRef Text) {
    AccessName Name;
    SmallVector<StringRef, 5> Parts;
    Text.split(Parts, Separator);
    if (Parts.size() != 5 || Parts[0].size() != 2)
        return Name;
    unsigned Kind = Parts[0][1] - '0';
    Name.Kind = Kind <= static_cast<unsigned>(VariableKind::CompilerMade) ? VariableKind(Kind) : VariableKind::Unknown;
    Name.Variable = Parts[1].str();
    Name.ObjectType = Parts[2].str();
    Name.Field = Parts[3].str();
    Name.ValueType = Parts[4].str();
    return Name;
}

// The text of one of our scopes; empty for a scope of others.
StringRef labelText(const Metadata *Scope) {
    const auto *Node = dyn_cast_or_null<MDNode>(Scope);
    if (!Node || Node->getNumOperands() != 2)
        return "";
    const auto *Text = dyn_cast_or_null<MDString>(Node->getOperand(0).get());
    const auto *Space = dyn_cast_or_null<MDNode>(Node->getOperand(1).get());
    if (!Text || !Space || Space->getNumOperands() != 1)
        return "";
    const auto *Name = dyn_cast_or_null<MDString>(Space->getOperand(0).get());
    return Name && Name->getString() == Domain ? Text->getString() : "";
}

AccessName join(ArrayRef<AccessName> Names) {
    auto Joined = [&](std::string AccessName::*Part) {
        SmallVector<std::string, 4> Texts;
        for (const AccessName &Name : Names)
            Texts.push_back(Name.*Part);
        return joinNames(Texts);
    };
    AccessName Result;
    Result.Variable = Joined(&AccessName::Variable);
    Result.ObjectType = Joined(&AccessName::ObjectType);
    Result.Field = Joined(&AccessName::Field);
    Result.ValueType = Joined(&AccessName::ValueType);
    Result.Kind = Names.front().Kind;
    for (const AccessName &Name : Names)
        if (Name.Kind != Result.Kind)
            Result.Kind = VariableKind::Unknown;
    return Result;
}

} // namespace

Role roleOf(const Instruction &I, unsigned Part) {
    if (isa<LoadInst>(I))
        return Role::Read;
    if (isa<StoreInst>(I))
        return Role::Write;
    const auto *Call = dyn_cast<IntrinsicInst>(&I);
    if (!Call)
        return Role::Both;
    if (isa<AnyMemTransferInst>(Call))
        return Part == 0 ? Role::Read : Role::Write;
    return Call->getType()->isVoidTy() ? Role::Write : Role::Read;
}

void attachLabel(Instruction &I, Role R, const AccessName &Name) {
    LLVMContext &Context = I.getContext();
    MDNode *Space = MDNode::get(Context, MDString::get(Context, Domain));
    MDNode *Scope = MDNode::get(Context, {MDString::get(Context, encode(R, Name)), Space});
    MDNode *List = MDNode::get(Context, Scope);
    I.setMetadata(LLVMContext::MD_alias_scope, MDNode::concatenate(I.getMetadata(LLVMContext::MD_alias_scope), List));
}

std::optional<AccessName> readLabel(const Instruction &I, Role Wanted) {
    const MDNode *List = I.getMetadata(LLVMContext::MD_alias_scope);
    if (!List)
        return std::nullopt;
    SmallVector<AccessName, 2> Found;
    for (const MDOperand &Scope : List->operands()) {
        StringRef Text = labelText(Scope.get());
        if (Text.empty())
            continue;
        auto R = static_cast<Role>(Text.front());
        if (R == Wanted || R == Role::Both || Wanted == Role::Both)
            Found.push_back(decode(Text));
    }
    if (Found.empty())
        return std::nullopt;
    return Found.size() == 1 ? Found.front() : join(Found);
}

void removeLabel(Instruction &I) {
    MDNode *List = I.getMetadata(LLVMContext::MD_alias_scope);
    if (!List)
        return;
    SmallVector<Metadata *, 4> Others;
    for (const MDOperand &Scope : List->operands())
        if (labelText(Scope.get()).empty())
            Others.push_back(Scope.get());
    if (Others.size() != List->getNumOperands())
        I.setMetadata(LLVMContext::MD_alias_scope, Others.empty() ? nullptr : MDNode::get(I.getContext(), Others));
}

} // namespace trackway
