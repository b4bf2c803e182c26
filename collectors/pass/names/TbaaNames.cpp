#include "names/TbaaNames.h"
#include "names/DebugTypes.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

namespace {

StringRef nodeName(const MDNode *Node) {
    const auto *Name = Node && Node->getNumOperands() ? dyn_cast<MDString>(Node->getOperand(0)) : nullptr;
    return Name ? Name->getString() : "";
}

// `any pointer`, and what flang tells apart, which are no types: `any data access`, `direct data/_QMgridsEedge`.
bool saysNoType(StringRef Name) {
    return Name == "omnipotent char" || Name.starts_with("any ") || Name.contains(" data") || Name.contains("TBAA");
}

// C++ types stand as `_ZTS…`, others by their plain names.
std::string typeName(StringRef Name) {
    if (saysNoType(Name))
        return "";
    if (Name == "vtable pointer")
        return "vtable *";
    if (!Name.starts_with("_ZTS"))
        return Name.str();
    std::string Demangled = demangle(Name.str());
    StringRef Rest = Demangled;
    return Rest.consume_front("typeinfo name for ") ? Rest.str() : "";
}

constexpr StringRef TagListName = "trackway.tags";

// The tag, if it names a member. Merged accesses get tags of scalars, which say nothing of where they came from.
const MDNode *memberTag(const Instruction &Access) {
    const MDNode *Tag = Access.getMetadata(LLVMContext::MD_tbaa);
    return Tag && Tag->getNumOperands() >= 3 && Tag->getOperand(0) != Tag->getOperand(1) ? Tag : nullptr;
}

bool sameMember(const AccessName &A, const AccessName &B) {
    return A.ObjectType == B.ObjectType && A.Field == B.Field && A.ValueType == B.ValueType;
}

} // namespace

void TagNames::note(const Instruction &Access, const AccessName &Name) {
    const MDNode *Tag = memberTag(Access);
    if (!Tag)
        return;
    auto [Known, New] = Names.insert({Tag, Name});
    if (!New && !sameMember(Known->second, Name))
        Known->second = {};
}

void TagNames::write(Module &M) const {
    LLVMContext &Context = M.getContext();
    NamedMDNode *List = M.getOrInsertNamedMetadata(TagListName);
    for (const auto &[Tag, Name] : Names) {
        if (Name.ObjectType.empty() || Name.Field.empty())
            continue;
        Metadata *Parts[] = {const_cast<MDNode *>(Tag), MDString::get(Context, Name.ObjectType),
                             MDString::get(Context, Name.Field), MDString::get(Context, Name.ValueType)};
        List->addOperand(MDNode::get(Context, Parts));
    }
}

void TagNames::read(const Module &M) {
    const NamedMDNode *List = M.getNamedMetadata(TagListName);
    if (!List)
        return;
    for (const MDNode *Entry : List->operands()) {
        auto Text = [&](unsigned Part) { return cast<MDString>(Entry->getOperand(Part))->getString().str(); };
        AccessName Name;
        Name.ObjectType = Text(1);
        Name.Field = Text(2);
        Name.ValueType = Text(3);
        Names.insert({cast<MDNode>(Entry->getOperand(0)), std::move(Name)});
    }
}

AccessName TagNames::name(const Instruction &Access) const { return Names.lookup(memberTag(Access)); }

void removeTagNames(Module &M) {
    if (NamedMDNode *List = M.getNamedMetadata(TagListName))
        List->eraseFromParent();
}

bool accessesCharacter(const Instruction &Access) {
    const MDNode *Tag = Access.getMetadata(LLVMContext::MD_tbaa);
    const auto *Leaf = Tag && Tag->getNumOperands() >= 3 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
    return !memberTag(Access) && nodeName(Leaf) == "omnipotent char" &&
           getLoadStoreType(const_cast<Instruction *>(&Access))->isIntegerTy(8);
}

AccessName tbaaName(const Instruction &Access, const AccessShape &Shape, const DebugTypes &Types,
                    const FieldPaths &Paths) {
    AccessName Name;
    const MDNode *Tag = Access.getMetadata(LLVMContext::MD_tbaa);
    if (!Tag || Tag->getNumOperands() < 3)
        return Name;
    const auto *Base = dyn_cast_or_null<MDNode>(Tag->getOperand(0).get());
    const auto *Leaf = dyn_cast_or_null<MDNode>(Tag->getOperand(1).get());
    const auto *Offset = mdconst::dyn_extract_or_null<ConstantInt>(Tag->getOperand(2));
    if (!Base || !Leaf || !Offset)
        return Name;
    Name.ValueType = typeName(nodeName(Leaf));
    if (Base == Leaf)
        return Name;
    if (const DICompositeType *Object = Types.findByTbaaName(nodeName(Base))) {
        Spots At{Spot{Object, static_cast<int64_t>(Offset->getZExtValue()), nullptr, "", nullptr, ""}};
        Paths.describe(Paths.leaves(At, Shape), Name);
        return Name;
    }
    Name.ObjectType = typeName(nodeName(Base));
    return Name;
}

} // namespace trackway
