#include "names/Label.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr StringRef LabelListName = "trackway.labels";
constexpr StringRef Separator = "\t"; // no name contains it

// What a label tells, besides its role.
enum Aspect : char { Variable = 'v', Object = 'o', Field = 'f' };

std::string encode(Role R, Aspect A, const Twine &Content) {
    return (Twine(static_cast<char>(R)) + Twine(static_cast<char>(A)) + Content).str();
}

char encodeKind(VariableKind Kind) { return static_cast<char>('0' + static_cast<int>(Kind)); }

VariableKind decodeKind(char Letter) {
    unsigned Kind = Letter - '0';
    return Kind <= static_cast<unsigned>(VariableKind::CompilerMade) ? VariableKind(Kind) : VariableKind::Unknown;
}

// Takes what a label says unless an earlier one said it.
void decode(char What, StringRef Text, AccessName &Name) {
    SmallVector<StringRef, 3> Parts;
    Text.split(Parts, Separator);
    if (What == Variable && Name.Variable.empty() && !Text.empty()) {
        Name.Kind = decodeKind(Text.front());
        Name.Variable = Text.drop_front().str();
    } else if (What == Object && Name.ObjectType.empty()) {
        Name.ObjectType = Text.str();
    } else if (What == Field && Name.Field.empty() && Name.ValueType.empty() && Parts.size() == 3) {
        Name.ObjectType = Parts[0].str();
        Name.Field = Parts[1].str();
        Name.ValueType = Parts[2].str();
    }
}

// The groups of an instruction: one by itself, or a list.
SmallVector<const MDNode *, 4> groupsOf(const Instruction &I) {
    SmallVector<const MDNode *, 4> Groups;
    const MDNode *Node = I.getMetadata(LLVMContext::MD_access_group);
    if (!Node)
        return Groups;
    if (Node->getNumOperands() == 0)
        Groups.push_back(Node);
    for (const MDOperand &Group : Node->operands())
        Groups.push_back(cast<MDNode>(Group.get()));
    return Groups;
}

void setGroups(Instruction &I, ArrayRef<const MDNode *> Groups) {
    SmallVector<Metadata *, 4> Operands;
    for (const MDNode *Group : Groups)
        Operands.push_back(const_cast<MDNode *>(Group));
    MDNode *Node = Operands.empty()       ? nullptr
                   : Operands.size() == 1 ? cast<MDNode>(Operands.front())
                                          : MDNode::get(I.getContext(), Operands);
    I.setMetadata(LLVMContext::MD_access_group, Node);
}

} // namespace

Role roleOf(const Instruction &I, unsigned Part) {
    if (isa<LoadInst>(I))
        return Role::Read;
    if (isa<StoreInst>(I))
        return Role::Write;
    const auto *Call = dyn_cast<IntrinsicInst>(&I);
    if (!Call && isa<CallBase>(I)) // of a library function, which may have many
        return static_cast<Role>(static_cast<char>(Role::FirstOfCall) + Part);
    if (!Call)
        return Role::Both;
    if (isa<AnyMemTransferInst>(Call))
        return Part == 0 ? Role::Read : Role::Write;
    return Call->getType()->isVoidTy() ? Role::Write : Role::Read;
}

LabelWriter::LabelWriter(Module &M) : M(M), List(M.getOrInsertNamedMetadata(LabelListName)) {}

MDNode *LabelWriter::group(StringRef Text) {
    MDNode *&Group = Groups[Text];
    if (!Group) {
        LLVMContext &Context = M.getContext();
        Group = MDNode::getDistinct(Context, {});
        List->addOperand(MDNode::get(Context, {Group, MDString::get(Context, Text)}));
    }
    return Group;
}

void LabelWriter::attach(Instruction &I, Role R, const AccessName &Name) {
    SmallVector<const MDNode *, 4> All = groupsOf(I);
    if (Name.Kind != VariableKind::Unknown || !Name.Variable.empty())
        All.push_back(group(encode(R, Variable, Twine(encodeKind(Name.Kind)) + Name.Variable)));
    if (!Name.ObjectType.empty() && !Name.Field.empty())
        All.push_back(group(encode(R, Object, Name.ObjectType)));
    if (!Name.ObjectType.empty() || !Name.ValueType.empty())
        All.push_back(group(encode(R, Field, Name.ObjectType + Separator + Name.Field + Separator + Name.ValueType)));
    setGroups(I, All);
}

LabelReader::LabelReader(const Module &M) {
    const NamedMDNode *List = M.getNamedMetadata(LabelListName);
    if (!List)
        return;
    for (const MDNode *Entry : List->operands()) {
        const auto *Group = Entry->getNumOperands() == 2 ? dyn_cast_or_null<MDNode>(Entry->getOperand(0)) : nullptr;
        const auto *Text = Group ? dyn_cast_or_null<MDString>(Entry->getOperand(1)) : nullptr;
        if (Text && Text->getLength() > 2)
            Texts[Group] = Text->getString();
    }
}

AccessName LabelReader::read(const Instruction &I, Role Wanted) const {
    AccessName Name;
    for (const MDNode *Group : groupsOf(I)) {
        StringRef Text = Texts.lookup(Group);
        if (Text.empty())
            continue;
        auto R = static_cast<Role>(Text[0]);
        if (R == Wanted || R == Role::Both || Wanted == Role::Both)
            decode(Text[1], Text.drop_front(2), Name);
    }
    return Name;
}

void removeAllLabels(Module &M) {
    LabelReader Labels(M);
    for (Function &F : M)
        for (Instruction &I : instructions(F)) {
            SmallVector<const MDNode *, 4> Groups = groupsOf(I);
            size_t Before = Groups.size();
            erase_if(Groups, [&](const MDNode *Group) { return Labels.isLabel(Group); });
            if (Groups.size() != Before)
                setGroups(I, Groups);
        }
    if (NamedMDNode *List = M.getNamedMetadata(LabelListName))
        List->eraseFromParent();
}

} // namespace trackway
