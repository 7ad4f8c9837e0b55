// Contiguity proved at run time: an index of 32 bits that may wrap (unsigned arithmetic says so) is
// base + lane * stride unless it does wrap within these W lanes, which two scalar instructions
// tell.
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/MDBuilder.h>

#include "devices/cpu/lanes/emitter.h"

namespace trilane::cpu {

using namespace llvm;

Value* LaneEmitter::joint(Value* a, Value* b) {
    if (a == nullptr) return b;
    return b == nullptr ? a : builder_.CreateAnd(a, b);
}

Value* LaneEmitter::either(Value* condition, const std::function<Value*()>& likely,
                           const std::function<Value*()>& otherwise) {
    BasicBlock* ways[2];
    for (BasicBlock*& way : ways) way = BasicBlock::Create(context_, "row", &vector_function_);
    auto* after = BasicBlock::Create(context_, "rows", &vector_function_);
    builder_.CreateCondBr(condition, ways[0], ways[1],
                          MDBuilder(context_).createBranchWeights(1u << 20, 1));
    Value* values[2];
    auto scalars = scalars_;
    auto vectors = vectors_;
    for (int i : {0, 1}) {
        builder_.SetInsertPoint(ways[i]);
        values[i] = i == 0 ? likely() : otherwise();
        ways[i] = builder_.GetInsertBlock();
        builder_.CreateBr(after);
        scalars_ = scalars;
        vectors_ = vectors;
    }
    builder_.SetInsertPoint(after);
    if (values[0] == nullptr) return nullptr;
    PHINode* result = builder_.CreatePHI(values[0]->getType(), 2);
    for (int i : {0, 1}) result->addIncoming(values[i], ways[i]);
    return result;
}

std::optional<LaneEmitter::Guess> LaneEmitter::guess(Value* value) {
    LaneShape shape = plan_.shape(value);
    if (shape.has_base()) return Guess{scalar(value), shape.stride, nullptr};
    auto* instruction = dyn_cast<Instruction>(value);
    if (instruction == nullptr) return std::nullopt;
    switch (instruction->getOpcode()) {
        case Instruction::ZExt:
        case Instruction::SExt:
            return guess_extension(cast<CastInst>(*instruction));
        case Instruction::Add:
        case Instruction::Sub:
        case Instruction::Mul:
        case Instruction::Shl:
            return guess_sum(*instruction);
        case Instruction::GetElementPtr:
            return guess_address(cast<GetElementPtrInst>(*instruction));
        default:
            return std::nullopt;
    }
}

std::optional<LaneEmitter::Guess> LaneEmitter::guess_extension(CastInst& extension) {
    LaneShape from = plan_.shape(extension.getOperand(0));
    if (!from.is_affine()) return std::nullopt;
    int64_t span = 0;
    if (__builtin_mul_overflow(from.stride, int64_t(lanes_ - 1), &span)) return std::nullopt;
    Value* base = scalar(extension.getOperand(0));
    Type* narrow = base->getType();
    if (std::abs(span) >= int64_t{1} << (narrow->getIntegerBitWidth() - 2)) return std::nullopt;
    bool is_signed = extension.getOpcode() == Instruction::SExt;
    // No wrap between the first lane and the last: base + span stays on its side.
    Value* last = builder_.CreateAdd(base, ConstantInt::get(narrow, uint64_t(span), true));
    Value* fine =
        is_signed
            ? (span > 0 ? builder_.CreateICmpSGE(last, base) : builder_.CreateICmpSLE(last, base))
            : (span > 0 ? builder_.CreateICmpUGE(last, base) : builder_.CreateICmpULE(last, base));
    return Guess{builder_.CreateCast(extension.getOpcode(), base, extension.getType()), from.stride,
                 fine};
}

std::optional<LaneEmitter::Guess> LaneEmitter::guess_sum(Instruction& sum) {
    auto a = guess(sum.getOperand(0));
    if (!a) return std::nullopt;
    auto b = guess(sum.getOperand(1));
    if (!b) return std::nullopt;
    Guess result;
    auto* constant = dyn_cast<ConstantInt>(sum.getOperand(1));
    bool fine = false;
    switch (sum.getOpcode()) {
        case Instruction::Add:
            fine = !__builtin_add_overflow(a->stride, b->stride, &result.stride);
            break;
        case Instruction::Sub:
            fine = !__builtin_sub_overflow(a->stride, b->stride, &result.stride);
            break;
        case Instruction::Mul:
            fine = constant != nullptr && constant->getBitWidth() <= 64 &&
                   !__builtin_mul_overflow(a->stride, constant->getSExtValue(), &result.stride);
            break;
        default:
            fine = constant != nullptr && constant->getZExtValue() < 32 &&
                   !__builtin_mul_overflow(a->stride, int64_t{1} << constant->getZExtValue(),
                                           &result.stride);
    }
    // 32-bit sums would have to be proved again when they are extended.
    if (!fine || sum.getType()->getScalarSizeInBits() != 64) return std::nullopt;
    result.base = builder_.CreateBinOp(Instruction::BinaryOps(sum.getOpcode()), a->base, b->base);
    result.condition = joint(a->condition, b->condition);
    return result;
}

std::optional<LaneEmitter::Guess> LaneEmitter::guess_address(GetElementPtrInst& address) {
    auto result = guess(address.getPointerOperand());
    if (!result) return std::nullopt;
    SmallVector<Value*, 4> indices;
    for (auto type = gep_type_begin(address); type != gep_type_end(address); ++type) {
        Value* index = type.getOperand();
        if (isa<Constant>(index)) {
            indices.push_back(index);
            continue;
        }
        if (index->getType()->getScalarSizeInBits() != 64) return std::nullopt;
        auto step = guess(index);
        if (!step) return std::nullopt;
        auto size = int64_t(type.getSequentialElementStride(data_).getFixedValue());
        int64_t bytes = 0;
        if (__builtin_mul_overflow(step->stride, size, &bytes) ||
            __builtin_add_overflow(result->stride, bytes, &result->stride))
            return std::nullopt;
        indices.push_back(step->base);
        result->condition = joint(result->condition, step->condition);
    }
    result->base = builder_.CreateGEP(address.getSourceElementType(), result->base, indices);
    return result;
}

}  // namespace trilane::cpu
