// One rewrite per instruction kind; operands are those of run time, so nothing folds too early.
#include "devices/cpu/compile/semantics.h"

#include <functional>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/NoFolder.h"

namespace trilane::cpu {
namespace {

using llvm::Value;
// NoFolder: a constant operand must not turn into poison while the guard around it is built.
using Builder = llvm::IRBuilder<llvm::NoFolder>;

// True if `value` is constant and `predicate` holds for each of its lanes.
bool every_lane(const Value* value, const std::function<bool(const llvm::APInt&)>& predicate) {
    if (const auto* scalar = llvm::dyn_cast<llvm::ConstantInt>(value))
        return predicate(scalar->getValue());
    const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    if (constant == nullptr || type == nullptr) return false;
    for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
        auto* element =
            llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
        if (element == nullptr || !predicate(element->getValue())) return false;
    }
    return true;
}

Value* rewrite_shift(llvm::BinaryOperator& shift) {
    Value* amount = shift.getOperand(1);
    unsigned width = shift.getType()->getScalarSizeInBits();
    if (every_lane(amount, [&](const llvm::APInt& lane) { return lane.ult(width); }))
        return nullptr;
    Builder builder(&shift);
    llvm::Type* type = shift.getType();
    if (shift.getOpcode() == llvm::Instruction::AShr) {
        Value* limit = llvm::ConstantInt::get(type, width - 1);
        Value* clamped = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, limit);
        return builder.CreateAShr(shift.getOperand(0), clamped);
    }
    Value* in_range = builder.CreateICmpULT(amount, llvm::ConstantInt::get(type, width));
    Value* shifted = builder.CreateBinOp(shift.getOpcode(), shift.getOperand(0), amount);
    return builder.CreateSelect(in_range, shifted, llvm::Constant::getNullValue(type));
}

Value* rewrite_division(llvm::BinaryOperator& division) {
    unsigned opcode = division.getOpcode();
    bool is_signed = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
    bool remainder = opcode == llvm::Instruction::SRem || opcode == llvm::Instruction::URem;
    Value* divisor = division.getOperand(1);
    if (every_lane(divisor, [&](const llvm::APInt& lane) {
            return !lane.isZero() && !(is_signed && lane.isAllOnes());
        }))
        return nullptr;
    Builder builder(&division);
    llvm::Type* type = division.getType();
    Value* dividend = division.getOperand(0);
    Value* ones = llvm::Constant::getAllOnesValue(type);
    Value* by_zero = builder.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
    Value* by_minus_one = is_signed ? builder.CreateICmpEQ(divisor, ones) : nullptr;
    Value* unsafe = is_signed ? builder.CreateOr(by_zero, by_minus_one) : by_zero;
    Value* safe = builder.CreateSelect(unsafe, llvm::ConstantInt::get(type, 1), divisor);
    Value* result =
        builder.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(opcode), dividend, safe);
    if (is_signed) {
        Value* negated =
            remainder ? llvm::Constant::getNullValue(type) : builder.CreateNeg(dividend);
        result = builder.CreateSelect(by_minus_one, negated, result);
    }
    return builder.CreateSelect(by_zero, ones, result);
}

// Narrow integers are made as nvcc makes them: saturated to 32 bits, then cut off.
Value* rewrite_float_to_int(llvm::CastInst& cast) {
    Builder builder(&cast);
    Value* source = cast.getOperand(0);
    unsigned width = cast.getType()->getScalarSizeInBits();
    if (width == 1) return nullptr;
    llvm::Type* type = cast.getType();
    if (width < 32) type = type->getWithNewBitWidth(32);
    auto id = cast.getOpcode() == llvm::Instruction::FPToSI ? llvm::Intrinsic::fptosi_sat
                                                            : llvm::Intrinsic::fptoui_sat;
    Value* result = builder.CreateIntrinsic(id, {type, source->getType()}, {source});
    if (width == 64 || source->getType()->getScalarSizeInBits() == 64) {
        Value* is_nan =
            builder.CreateFCmpUNO(source, llvm::Constant::getNullValue(source->getType()));
        auto pattern = llvm::APInt::getSignMask(type->getScalarSizeInBits());
        result = builder.CreateSelect(is_nan, llvm::ConstantInt::get(type, pattern), result);
    }
    return type == cast.getType() ? result : builder.CreateTrunc(result, cast.getType());
}

Value* rewrite_min_max(llvm::IntrinsicInst& call) {
    Builder builder(&call);
    Value *a = call.getArgOperand(0), *b = call.getArgOperand(1);
    auto is_nan = [&](Value* v) { return builder.CreateFCmpUNO(v, v); };
    Value* a_clean = builder.CreateSelect(is_nan(a), b, a);
    Value* b_clean = builder.CreateSelect(is_nan(b), a, b);
    auto id = call.getIntrinsicID() == llvm::Intrinsic::maxnum ? llvm::Intrinsic::maximum
                                                               : llvm::Intrinsic::minimum;
    return builder.CreateIntrinsic(id, {call.getType()}, {a_clean, b_clean});
}

Value* rewrite_intrinsic(llvm::IntrinsicInst& call) {
    llvm::Value* no = llvm::ConstantInt::getFalse(call.getContext());
    switch (call.getIntrinsicID()) {
        case llvm::Intrinsic::fmuladd: {
            Builder builder(&call);
            return builder.CreateIntrinsic(
                llvm::Intrinsic::fma, {call.getType()},
                {call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2)});
        }
        case llvm::Intrinsic::maxnum:
        case llvm::Intrinsic::minnum:
            return rewrite_min_max(call);
        case llvm::Intrinsic::ctlz:
        case llvm::Intrinsic::cttz:
        case llvm::Intrinsic::abs:
            call.setArgOperand(1, no);
            return nullptr;
        default:
            return nullptr;
    }
}

Value* rewrite(llvm::Instruction& instruction) {
    switch (instruction.getOpcode()) {
        case llvm::Instruction::Shl:
        case llvm::Instruction::LShr:
        case llvm::Instruction::AShr:
            return rewrite_shift(llvm::cast<llvm::BinaryOperator>(instruction));
        case llvm::Instruction::SDiv:
        case llvm::Instruction::UDiv:
        case llvm::Instruction::SRem:
        case llvm::Instruction::URem:
            return rewrite_division(llvm::cast<llvm::BinaryOperator>(instruction));
        case llvm::Instruction::FPToSI:
        case llvm::Instruction::FPToUI:
            return rewrite_float_to_int(llvm::cast<llvm::CastInst>(instruction));
        case llvm::Instruction::Call:
            if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
                return rewrite_intrinsic(*call);
            return nullptr;
        default:
            return nullptr;
    }
}

bool is_must_progress(const llvm::Metadata* operand) {
    const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(operand);
    if (node == nullptr || node->getNumOperands() == 0) return false;
    const auto* text = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(0));
    return text != nullptr && text->getString() == "llvm.loop.mustprogress";
}

// Loop metadata is a distinct node whose first operand is itself.
void let_loop_run_on(llvm::Instruction& branch) {
    llvm::MDNode* loop = branch.getMetadata(llvm::LLVMContext::MD_loop);
    if (loop == nullptr) return;
    llvm::SmallVector<llvm::Metadata*, 4> kept = {nullptr};
    for (unsigned i = 1; i < loop->getNumOperands(); ++i)
        if (!is_must_progress(loop->getOperand(i))) kept.push_back(loop->getOperand(i));
    if (kept.size() == loop->getNumOperands()) return;
    if (kept.size() == 1) {
        branch.setMetadata(llvm::LLVMContext::MD_loop, nullptr);
        return;
    }
    llvm::MDNode* fresh = llvm::MDNode::getDistinct(branch.getContext(), kept);
    fresh->replaceOperandWith(0, fresh);
    branch.setMetadata(llvm::LLVMContext::MD_loop, fresh);
}

// What clang folded to poison all the same becomes 0: any value is right there, spreading is not.
void drop_poison(llvm::Instruction& instruction) {
    for (llvm::Use& use : instruction.operands())
        if (llvm::isa<llvm::PoisonValue>(use) && use->getType()->isIntegerTy())
            use.set(llvm::Constant::getNullValue(use->getType()));
}

void apply_to(llvm::Function& function) {
    function.removeFnAttr(llvm::Attribute::MustProgress);
    // Rewrites put new shifts and divisions in: only what was there before is visited.
    llvm::SmallVector<llvm::Instruction*, 64> worklist;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
        worklist.push_back(&instruction);
        if (instruction.isTerminator()) let_loop_run_on(instruction);
    }
    for (llvm::Instruction* instruction : worklist) {
        drop_poison(*instruction);
        if (llvm::isa<llvm::FPMathOperator>(instruction)) instruction->setHasAllowContract(false);
        Value* replacement = rewrite(*instruction);
        if (replacement == nullptr) continue;
        if (auto* fresh = llvm::dyn_cast<llvm::Instruction>(replacement))
            fresh->takeName(instruction);
        instruction->replaceAllUsesWith(replacement);
        instruction->eraseFromParent();
    }
}

}  // namespace

void apply_gpu_semantics(llvm::Module& module) {
    for (llvm::Function& function : module)
        if (!function.isDeclaration()) apply_to(function);
}

}  // namespace trilane::cpu
