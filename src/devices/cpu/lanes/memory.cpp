// Loads, stores, private arrays and atomic operations.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "devices/cpu/lanes/emitter.h"
#include "devices/cpu/lanes/vectorize.h"

namespace trilane::cpu {

using namespace llvm;

Value* LaneEmitter::reversed(Value* value) {
    SmallVector<int, 32> order;
    for (unsigned i = 0; i < lanes_; ++i) order.push_back(int(lanes_ - 1 - i));
    return builder_.CreateShuffleVector(value, order);
}

Value* LaneEmitter::last_active(Value* lanes, Value* mask) {
    if (auto* constant = dyn_cast<Constant>(mask);
        constant != nullptr && constant->isAllOnesValue())
        return builder_.CreateExtractElement(lanes, lanes_ - 1);
    Value* unused = builder_.CreateBinaryIntrinsic(Intrinsic::ctlz, bits(mask), builder_.getTrue());
    Value* last = builder_.CreateSub(builder_.getIntN(lanes_, lanes_ - 1), unused);
    return builder_.CreateExtractElement(lanes,
                                         builder_.CreateZExtOrTrunc(last, builder_.getInt32Ty()));
}

// Each lane has a copy of its own, one after the other.
void LaneEmitter::emit_array(AllocaInst& array) {
    auto size = array.getAllocationSize(data_);
    if (!size || !array.isStaticAlloca()) refuse(array, "an array of unknown size");
    uint64_t stride = alignTo(size->getFixedValue(), array.getAlign());
    IRBuilder<> builder(prologue_, prologue_->begin());
    AllocaInst* copies = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), stride * lanes_),
                                              nullptr, array.getName());
    copies->setAlignment(std::max(array.getAlign(), Align(16)));
    define(array, copies);
}

namespace {

bool is_plain(Type* type) {
    if (type->isPointerTy()) return true;
    if (type->isFloatingPointTy()) return type->getScalarSizeInBits() <= 64;
    if (!type->isIntegerTy()) return false;
    unsigned width = type->getIntegerBitWidth();
    return width == 8 || width == 16 || width == 32 || width == 64;
}

}  // namespace

void LaneEmitter::emit_load(LoadInst& load) {
    LaneShape at = plan_.shape(load.getPointerOperand());
    if (plan_.shape(&load).is_uniform()) {
        Instruction* copy = load.clone();
        copy->setOperand(0, scalar(load.getPointerOperand()));
        builder_.Insert(copy, load.getName());
        return define(load, copy);
    }
    if (!load.isSimple() || !is_plain(load.getType())) return emit_by_lane(load);
    auto size = int64_t(data_.getTypeStoreSize(load.getType()).getFixedValue());
    if (at.is_affine() && std::abs(at.stride) == size)
        return define(load, load_row(load, scalar(load.getPointerOperand()), at.stride));
    // Not poison: what lanes hold that are off must not spread to others.
    Value* nothing = Constant::getNullValue(widened(load.getType()));
    auto gather = [&]() -> Value* {
        return builder_.CreateMaskedGather(nothing->getType(), vector(load.getPointerOperand()),
                                           load.getAlign(), mask_, nothing);
    };
    std::optional<Guess> row = at.is_varying() ? guess(load.getPointerOperand()) : std::nullopt;
    if (row && std::abs(row->stride) == size && row->condition != nullptr)
        return define(
            load,
            either(row->condition, [&] { return load_row(load, row->base, row->stride); }, gather));
    std::optional<TurnedRow> turned =
        at.is_varying() ? turned_row(load.getPointerOperand(), size) : std::nullopt;
    if (!turned) return define(load, gather());
    auto partners = [&] { return load_turned(load, *turned); };
    define(load,
           turned->condition == nullptr ? partners() : either(turned->condition, partners, gather));
}

// What other memory the access cannot reach.
static Instruction* with_scopes(Instruction* access, const Instruction& original) {
    for (unsigned kind : {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias})
        access->setMetadata(kind, original.getMetadata(kind));
    return access;
}

// Lanes side by side, in either direction.
Value* LaneEmitter::load_row(LoadInst& load, Value* base, int64_t stride) {
    Type* type = widened(load.getType());
    Value* nothing = Constant::getNullValue(type);
    if (stride > 0)
        return with_scopes(builder_.CreateMaskedLoad(type, base, load.getAlign(), mask_, nothing),
                           load);
    base = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base,
                                       uint64_t(stride * int64_t(lanes_ - 1)));
    return reversed(
        builder_.CreateMaskedLoad(type, base, load.getAlign(), reversed(mask_), nothing));
}

void LaneEmitter::store_row(StoreInst& store, Value* base, int64_t stride) {
    Value* lanes = vector(store.getValueOperand());
    if (stride > 0) {
        with_scopes(builder_.CreateMaskedStore(lanes, base, store.getAlign(), mask_), store);
        return;
    }
    base = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base,
                                       uint64_t(stride * int64_t(lanes_ - 1)));
    builder_.CreateMaskedStore(reversed(lanes), base, store.getAlign(), reversed(mask_));
}

void LaneEmitter::emit_store(StoreInst& store) {
    Value *value = store.getValueOperand(), *pointer = store.getPointerOperand();
    if (store.hasMetadata(kThreadMark)) {
        thread_place_ = pointer;
        thread_base_ = entry_alloca(value->getType(), "thread");
        builder_.CreateStore(scalar(value), thread_base_);
        return;
    }
    if (!store.isSimple()) return emit_by_lane(store);
    LaneShape at = plan_.shape(pointer);
    if (at.is_uniform()) {
        Instruction* copy = store.clone();
        copy->setOperand(
            0, plan_.shape(value).is_uniform() ? scalar(value) : last_active(vector(value), mask_));
        copy->setOperand(1, scalar(pointer));
        builder_.Insert(copy);
        return;
    }
    if (!is_plain(value->getType())) return emit_by_lane(store);
    auto size = int64_t(data_.getTypeStoreSize(value->getType()).getFixedValue());
    if (at.is_affine() && std::abs(at.stride) == size)
        return store_row(store, scalar(pointer), at.stride);
    Value* lanes = vector(value);
    // Where lanes meet at one place the last one stays, as with threads one after the other.
    auto scatter = [&]() -> Value* {
        builder_.CreateMaskedScatter(lanes, vector(pointer), store.getAlign(), mask_);
        return nullptr;
    };
    std::optional<Guess> row = at.is_varying() ? guess(pointer) : std::nullopt;
    if (row && std::abs(row->stride) == size && row->condition != nullptr) {
        either(
            row->condition,
            [&]() -> Value* {
                store_row(store, row->base, row->stride);
                return nullptr;
            },
            scatter);
        return;
    }
    std::optional<TurnedRow> turned = at.is_varying() ? turned_row(pointer, size) : std::nullopt;
    auto partners = [&]() -> Value* {
        store_turned(store, *turned);
        return nullptr;
    };
    if (turned && turned->condition != nullptr)
        either(turned->condition, partners, scatter);
    else if (turned)
        partners();
    else
        scatter();
}

// All lanes at one place, and nobody asks what was there: one operation for all.
bool LaneEmitter::emit_joint_atomic(AtomicRMWInst& update) {
    if (!update.use_empty() || update.isVolatile() ||
        !plan_.shape(update.getPointerOperand()).is_uniform() || !update.getType()->isIntegerTy())
        return false;
    unsigned width = update.getType()->getIntegerBitWidth();
    APInt neutral(width, 0);
    Intrinsic::ID id = Intrinsic::vector_reduce_add;
    switch (update.getOperation()) {
        case AtomicRMWInst::Add:
        case AtomicRMWInst::Sub:
            break;
        case AtomicRMWInst::Or:
            id = Intrinsic::vector_reduce_or;
            break;
        case AtomicRMWInst::Xor:
            id = Intrinsic::vector_reduce_xor;
            break;
        case AtomicRMWInst::And:
            id = Intrinsic::vector_reduce_and;
            neutral.setAllBits();
            break;
        case AtomicRMWInst::Max:
            id = Intrinsic::vector_reduce_smax;
            neutral = APInt::getSignedMinValue(width);
            break;
        case AtomicRMWInst::Min:
            id = Intrinsic::vector_reduce_smin;
            neutral = APInt::getSignedMaxValue(width);
            break;
        case AtomicRMWInst::UMax:
            id = Intrinsic::vector_reduce_umax;
            break;
        case AtomicRMWInst::UMin:
            id = Intrinsic::vector_reduce_umin;
            neutral.setAllBits();
            break;
        default:
            return false;
    }
    Value* lanes = vector(update.getValOperand());
    Value* off = ConstantInt::get(lanes->getType(), neutral);
    Value* all = builder_.CreateIntrinsic(id, {lanes->getType()},
                                          {builder_.CreateSelect(mask_, lanes, off)});
    auto* copy = cast<AtomicRMWInst>(update.clone());
    copy->setOperand(0, scalar(update.getPointerOperand()));
    copy->setOperand(1, all);
    builder_.Insert(copy);
    // Nobody else reaches it, and no other lane has a part of its own: a register, if it may be.
    if (update.hasMetadata(kBlockMemoryMark)) lowerAtomicRMWInst(copy);
    return true;
}

// What one lane has of a value. Addresses are computed from the index: that is narrower. Of another
// block's instructions the operands may not be known here.
Value* LaneEmitter::of_lane(Value* value, unsigned lane) {
    if (isa<Constant>(value)) return value;
    if (plan_.shape(value).is_uniform()) return scalar(value);
    if (auto* step = dyn_cast<Instruction>(value);
        isa<GetElementPtrInst, ZExtInst, SExtInst>(value) && plan_.shape(value).is_varying() &&
        step->getParent() == current_) {
        Instruction* copy = step->clone();
        for (Use& operand : copy->operands()) operand.set(of_lane(operand, lane));
        return builder_.Insert(copy);
    }
    return builder_.CreateExtractElement(vector(value), lane);
}

// Memory that only this block reaches, and nobody asks what was there: where all lanes are on they
// follow one another without a loop.
bool LaneEmitter::emit_row_of_atomics(AtomicRMWInst& update) {
    if (!update.hasMetadata(kBlockMemoryMark) || !update.use_empty() || update.isVolatile())
        return false;
    auto each = [&]() -> Value* {
        for (unsigned lane = 0; lane < lanes_; ++lane) {
            Instruction* copy = update.clone();
            for (Use& operand : copy->operands()) operand.set(of_lane(operand, lane));
            builder_.Insert(copy);
        }
        return nullptr;
    };
    auto by_lane = [&]() -> Value* {
        emit_by_lane(update);
        return nullptr;
    };
    if (auto* constant = dyn_cast<Constant>(mask_);
        constant != nullptr && constant->isAllOnesValue())
        each();
    else
        either(builder_.CreateICmpEQ(bits(mask_),
                                     Constant::getAllOnesValue(builder_.getIntNTy(lanes_))),
               each, by_lane);
    return true;
}

void LaneEmitter::emit_atomic(Instruction& instruction) {
    auto* update = dyn_cast<AtomicRMWInst>(&instruction);
    if (update != nullptr && (emit_joint_atomic(*update) || emit_row_of_atomics(*update))) return;
    emit_by_lane(instruction);
}

}  // namespace trilane::cpu
