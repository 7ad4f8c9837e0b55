// Rows in a turned order: the partner of an exchange. Where base is a multiple of W, (base + lane)
// ^ j is the aligned row of W elements that (base ^ j) lies in, and lane l has its element l ^ (j
// mod W).
#include <llvm/IR/PatternMatch.h>

#include "devices/cpu/lanes/emitter.h"

namespace trilane::cpu {

using namespace llvm;
using namespace llvm::PatternMatch;

std::optional<LaneEmitter::TurnedRow> LaneEmitter::turned_row(Value* pointer, int64_t size) {
    auto* address = dyn_cast<GetElementPtrInst>(pointer);
    if (address == nullptr || address->getNumIndices() != 1 || !isPowerOf2_32(lanes_) ||
        !plan_.shape(address->getPointerOperand()).is_uniform() ||
        int64_t(data_.getTypeAllocSize(address->getSourceElementType()).getFixedValue()) != size)
        return std::nullopt;
    Value* index = address->getOperand(1);
    auto* extension = dyn_cast<CastInst>(index);
    if (extension != nullptr && isa<SExtInst, ZExtInst>(extension))
        index = extension->getOperand(0);
    Value *row = nullptr, *by = nullptr;
    if (!match(index, m_Xor(m_Value(row), m_Value(by)))) return std::nullopt;
    if (plan_.shape(row).is_uniform()) std::swap(row, by);
    const LaneShape shape = plan_.shape(row);
    Type* type = index->getType();
    if (!shape.is_affine() || shape.stride != 1 || !plan_.shape(by).is_uniform() ||
        type->getScalarSizeInBits() < 8)
        return std::nullopt;
    TurnedRow result;
    Constant* within = ConstantInt::get(type, lanes_ - 1);
    Value* base = scalar(row);
    if (shape.zeros < Log2_32(lanes_))
        result.condition =
            builder_.CreateICmpEQ(builder_.CreateAnd(base, within), Constant::getNullValue(type));
    Value* partner = builder_.CreateXor(base, scalar(by));
    result.turn =
        builder_.CreateZExtOrTrunc(builder_.CreateAnd(partner, within), builder_.getInt32Ty());
    // W elements that begin at a multiple of W do not wrap, whatever the width and the sign.
    Value* first = builder_.CreateAnd(partner, ConstantExpr::getNot(within));
    const bool is_signed = extension == nullptr || isa<SExtInst>(extension);
    first = is_signed ? builder_.CreateSExtOrTrunc(first, builder_.getInt64Ty())
                      : builder_.CreateZExtOrTrunc(first, builder_.getInt64Ty());
    result.base = builder_.CreateGEP(address->getSourceElementType(),
                                     scalar(address->getPointerOperand()), first);
    return result;
}

// Lane l of the result is lane l ^ turn: one exchange of halves for each bit of the number.
Value* LaneEmitter::turned(Value* value, Value* turn) {
    for (unsigned distance = 1; distance < lanes_; distance *= 2) {
        SmallVector<int, 32> order;
        for (unsigned i = 0; i < lanes_; ++i) order.push_back(int(i ^ distance));
        Value* bit =
            builder_.CreateICmpNE(builder_.CreateAnd(turn, distance), builder_.getInt32(0));
        value = builder_.CreateSelect(bit, builder_.CreateShuffleVector(value, order), value);
    }
    return value;
}

// The same for a mask, in an integer of W bits.
Value* LaneEmitter::turned_mask(Value* mask, Value* turn) {
    if (isa<Constant>(mask)) return turned(mask, turn);
    Type* type = builder_.getIntNTy(lanes_);
    Value* value = bits(mask);
    for (unsigned distance = 1; distance < lanes_; distance *= 2) {
        APInt low(lanes_, 0);
        for (unsigned i = 0; i < lanes_; ++i) low.setBitVal(i, (i & distance) == 0);
        Constant* even = ConstantInt::get(type, low);
        Value* swapped =
            builder_.CreateOr(builder_.CreateShl(builder_.CreateAnd(value, even), distance),
                              builder_.CreateAnd(builder_.CreateLShr(value, distance), even));
        Value* bit =
            builder_.CreateICmpNE(builder_.CreateAnd(turn, distance), builder_.getInt32(0));
        value = builder_.CreateSelect(bit, swapped, value);
    }
    return builder_.CreateBitCast(value, mask->getType());
}

Value* LaneEmitter::load_turned(LoadInst& load, const TurnedRow& row) {
    auto straight = [&] { return load_row(load, row.base, 1); };
    auto exchanged = [&]() -> Value* {
        Type* type = widened(load.getType());
        return turned(
            builder_.CreateMaskedLoad(type, row.base, load.getAlign(), turned_mask(mask_, row.turn),
                                      Constant::getNullValue(type)),
            row.turn);
    };
    return either(builder_.CreateICmpEQ(row.turn, builder_.getInt32(0)), straight, exchanged);
}

void LaneEmitter::store_turned(StoreInst& store, const TurnedRow& row) {
    auto straight = [&]() -> Value* {
        store_row(store, row.base, 1);
        return nullptr;
    };
    auto exchanged = [&]() -> Value* {
        builder_.CreateMaskedStore(turned(vector(store.getValueOperand()), row.turn), row.base,
                                   store.getAlign(), turned_mask(mask_, row.turn));
        return nullptr;
    };
    either(builder_.CreateICmpEQ(row.turn, builder_.getInt32(0)), straight, exchanged);
}

}  // namespace trilane::cpu
