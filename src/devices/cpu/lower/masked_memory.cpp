// Masked accesses that the processor has no instruction for.
#include "devices/cpu/lower/masked_memory.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace trilane::cpu {

using namespace llvm;

namespace {

struct Access {
    Value* pointer = nullptr;  // or a vector of them
    Value* mask = nullptr;
    Value* value = nullptr;  // what is stored, or what loads give in lanes that are off
    FixedVectorType* type = nullptr;
    Align align;
    bool stores = false;

    bool has_pointers() const { return pointer->getType()->isVectorTy(); }
    bool is_legal(const TargetTransformInfo& target) const {
        if (!has_pointers())
            return stores ? target.isLegalMaskedStore(type, align)
                          : target.isLegalMaskedLoad(type, align);
        if (stores)
            return target.isLegalMaskedScatter(type, align) &&
                   !target.forceScalarizeMaskedScatter(type, align);
        return target.isLegalMaskedGather(type, align) &&
               !target.forceScalarizeMaskedGather(type, align);
    }
};

std::optional<Access> access_of(const IntrinsicInst& call) {
    Access access;
    unsigned pointer = 0;
    switch (call.getIntrinsicID()) {
        case Intrinsic::masked_gather:
        case Intrinsic::masked_load:
            access.value = call.getArgOperand(3);
            break;
        case Intrinsic::masked_scatter:
        case Intrinsic::masked_store:
            access.value = call.getArgOperand(0);
            access.stores = true;
            pointer = 1;
            break;
        default:
            return {};
    }
    access.pointer = call.getArgOperand(pointer);
    access.align = cast<ConstantInt>(call.getArgOperand(pointer + 1))->getAlignValue();
    access.mask = call.getArgOperand(pointer + 2);
    access.type = dyn_cast<FixedVectorType>(access.value->getType());
    if (access.type == nullptr || isa<Constant>(access.mask)) return {};
    return access;
}

// Where the lanes of one function go that are off.
class Aside {
  public:
    explicit Aside(Function& function) : function_(function) {}
    Value* zero() {
        if (zero_ == nullptr) {
            IRBuilder<> builder(&function_.getEntryBlock(), function_.getEntryBlock().begin());
            zero_ = place(builder, "zero");
            builder.SetInsertPoint(zero_->getNextNode());
            builder.CreateStore(Constant::getNullValue(zero_->getAllocatedType()), zero_);
        }
        return zero_;
    }
    Value* sink() {
        if (sink_ == nullptr) {
            IRBuilder<> builder(&function_.getEntryBlock(), function_.getEntryBlock().begin());
            sink_ = place(builder, "sink");
        }
        return sink_;
    }

  private:
    // As large and as aligned as any element.
    static AllocaInst* place(IRBuilder<>& builder, const char* name) {
        AllocaInst* made = builder.CreateAlloca(builder.getInt128Ty(), nullptr, name);
        made->setAlignment(Align(16));
        return made;
    }
    Function& function_;
    AllocaInst *zero_ = nullptr, *sink_ = nullptr;
};

Value* pointers_of(IRBuilder<>& builder, const Access& access) {
    if (access.has_pointers()) return access.pointer;
    SmallVector<Constant*, 32> numbers;
    for (unsigned lane = 0; lane < access.type->getNumElements(); ++lane)
        numbers.push_back(builder.getInt64(lane));
    return builder.CreateGEP(access.type->getElementType(), access.pointer,
                             ConstantVector::get(numbers));
}

void expand(IntrinsicInst& call, const Access& access, Aside& aside) {
    IRBuilder<> builder(&call);
    const unsigned lanes = access.type->getNumElements();
    Value* off = builder.CreateVectorSplat(lanes, access.stores ? aside.sink() : aside.zero());
    Value* pointers = builder.CreateSelect(access.mask, pointers_of(builder, access), off);
    Value* result = PoisonValue::get(access.type);
    // In the order of the lanes: where some meet at one place, the last one stays.
    for (uint64_t lane = 0; lane < lanes; ++lane) {
        Value* pointer = builder.CreateExtractElement(pointers, lane);
        if (access.stores) {
            builder.CreateAlignedStore(builder.CreateExtractElement(access.value, lane), pointer,
                                       access.align);
            continue;
        }
        Value* loaded =
            builder.CreateAlignedLoad(access.type->getElementType(), pointer, access.align);
        result = builder.CreateInsertElement(result, loaded, lane);
    }
    if (!access.stores) {
        auto* given = dyn_cast<Constant>(access.value);
        if (given == nullptr || !(given->isNullValue() || isa<UndefValue>(given)))
            result = builder.CreateSelect(access.mask, result, access.value);
        call.replaceAllUsesWith(result);
    }
    call.eraseFromParent();
}

}  // namespace

void lower_masked_memory(Function& function, const TargetTransformInfo& target) {
    Aside aside(function);
    for (Instruction& instruction : make_early_inc_range(instructions(function))) {
        auto* call = dyn_cast<IntrinsicInst>(&instruction);
        if (call == nullptr) continue;
        std::optional<Access> access = access_of(*call);
        if (access && !access->is_legal(target)) expand(*call, *access, aside);
    }
}

}  // namespace trilane::cpu
