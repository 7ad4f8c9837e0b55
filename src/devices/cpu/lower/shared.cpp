// Shared arrays as offsets in the block's buffer.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Support/Alignment.h>

#include <set>

#include "core/error.h"
#include "devices/cpu/lower/registers.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr unsigned kSharedSpace = 3;

bool is_dynamic(const GlobalVariable& variable) {
    if (variable.isDeclaration()) return true;
    auto* array = dyn_cast<ArrayType>(variable.getValueType());
    return array != nullptr && array->getNumElements() == 0;
}

std::vector<GlobalVariable*> shared_variables(Module& module) {
    std::vector<GlobalVariable*> result;
    for (GlobalVariable& variable : module.globals())
        if (variable.getAddressSpace() == kSharedSpace) result.push_back(&variable);
    return result;
}

bool used_in(const GlobalVariable& variable, const Function& function) {
    for (const User* user : variable.users())
        if (auto* instruction = dyn_cast<Instruction>(user))
            if (instruction->getFunction() == &function) return true;
    return false;
}

void place(SharedLayout& layout, GlobalVariable& variable, const DataLayout& data) {
    Align align = std::max(data.getPreferredAlign(&variable), Align(8));
    if (is_dynamic(variable)) {
        layout.dynamic_align = std::max<uint64_t>(layout.dynamic_align, align.value());
        layout.offsets[&variable] = UINT64_MAX;  // set when the static part is known
        return;
    }
    layout.static_bytes = alignTo(layout.static_bytes, align);
    layout.offsets[&variable] = layout.static_bytes;
    layout.static_bytes += data.getTypeAllocSize(variable.getValueType());
}

}  // namespace

void expand_shared_constants(Module& module) {
    SmallVector<Constant*, 8> constants;
    for (GlobalVariable* variable : shared_variables(module)) {
        variable->removeDeadConstantUsers();
        constants.push_back(variable);
    }
    convertUsersOfConstantsToInstructions(constants);
}

void drop_shared_variables(Module& module) {
    for (GlobalVariable* variable : shared_variables(module)) {
        variable->removeDeadConstantUsers();
        TRILANE_CHECK(variable->use_empty(), "a use of the shared array {} is left",
                      variable->getName().str());
        variable->eraseFromParent();
    }
}

SharedLayout layout_shared(Module& module, Function* kernel,
                           const std::vector<Function*>& outlined) {
    SharedLayout layout;
    expand_shared_constants(module);
    const DataLayout& data = module.getDataLayout();
    std::set<GlobalVariable*> placed;
    for (GlobalVariable* variable : shared_variables(module)) {
        bool outside = false;
        for (Function* function : outlined) outside |= used_in(*variable, *function);
        if (outside && placed.insert(variable).second) place(layout, *variable, data);
    }
    for (GlobalVariable* variable : shared_variables(module))
        if (kernel != nullptr && used_in(*variable, *kernel) && placed.insert(variable).second)
            place(layout, *variable, data);
    layout.dynamic_offset = alignTo(layout.static_bytes, Align(layout.dynamic_align));
    for (auto& [variable, offset] : layout.offsets)
        if (offset == UINT64_MAX) offset = layout.dynamic_offset;
    return layout;
}

void lower_shared(Function& function, const SharedLayout& layout, Value* shared) {
    // Simplification and cloning may have folded the instructions to constants again.
    expand_shared_constants(*function.getParent());
    for (const auto& [variable, offset] : layout.offsets) {
        std::vector<Use*> uses;
        for (Use& use : variable->uses())
            if (auto* instruction = dyn_cast<Instruction>(use.getUser()))
                if (instruction->getFunction() == &function) uses.push_back(&use);
        if (uses.empty()) continue;
        IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
        Value* base = shared;
        Value* offset_value = builder.getInt64(offset);
        if (base == nullptr) {
            Module& module = *function.getParent();
            base = builder.CreateCall(module.getOrInsertFunction(
                "__trl_rt_shared", FunctionType::get(builder.getPtrTy(), {}, false)));
            if (is_dynamic(*variable))  // where it starts differs from kernel to kernel
                offset_value = builder.CreateCall(module.getOrInsertFunction(
                    "__trl_rt_dynamic_offset", FunctionType::get(builder.getInt64Ty(), {}, false)));
        } else if (auto* instruction = dyn_cast<Instruction>(base)) {
            builder.SetInsertPoint(instruction->getNextNode());
        }
        Value* address =
            builder.CreateInBoundsGEP(builder.getInt8Ty(), base, offset_value, variable->getName());
        address = builder.CreateAddrSpaceCast(address, variable->getType());
        for (Use* use : uses) use->set(address);
    }
}

}  // namespace trilane::cpu
