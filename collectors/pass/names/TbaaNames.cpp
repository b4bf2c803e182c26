#include "names/TbaaNames.h"
#include "names/DebugTypes.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Metadata.h"

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

} // namespace

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
        Spots At{Spot{Object, static_cast<int64_t>(Offset->getZExtValue()), nullptr, ""}};
        Paths.describe(Paths.leaves(At, Shape), Name);
        return Name;
    }
    Name.ObjectType = typeName(nodeName(Base));
    return Name;
}

} // namespace trackway
