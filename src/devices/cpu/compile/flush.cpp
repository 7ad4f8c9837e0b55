// A select around each operand and result: a mode of the processor would touch doubles too.
#include "devices/cpu/compile/flush.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace trilane::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;
using llvm::Intrinsic::ID;

struct Arithmetic {
    bool operands = false, result = false;  // are flushed, where they are floats
};

bool is_float(const llvm::Type* type) { return type->getScalarType()->isFloatTy(); }

Arithmetic of_intrinsic(ID id) {
    switch (id) {
        case llvm::Intrinsic::fma:
        case llvm::Intrinsic::fmuladd:
        case llvm::Intrinsic::sqrt:
        case llvm::Intrinsic::ldexp:
            return {true, true};
        case llvm::Intrinsic::fabs:
        case llvm::Intrinsic::maxnum:
        case llvm::Intrinsic::minnum:
        case llvm::Intrinsic::maximum:
        case llvm::Intrinsic::minimum:
        case llvm::Intrinsic::floor:
        case llvm::Intrinsic::ceil:
        case llvm::Intrinsic::trunc:
        case llvm::Intrinsic::rint:
        case llvm::Intrinsic::nearbyint:
        case llvm::Intrinsic::round:
        case llvm::Intrinsic::roundeven:
            return {true, false};
        default:
            return {};
    }
}

// libm's, but for what looks at bits.
Arithmetic of_call(const llvm::CallInst& call) {
    static const llvm::StringSet<> names = {"fmodf",  "remainderf", "remquof", "fdimf",
                                            "ldexpf", "scalbnf",    "logbf",   "ilogbf"};
    const llvm::Function* callee = call.getCalledFunction();
    if (callee == nullptr) return {};
    if (callee->isIntrinsic()) return of_intrinsic(callee->getIntrinsicID());
    const bool known = callee->isDeclaration() && names.contains(callee->getName());
    return {known, known};
}

Arithmetic of_instruction(const Instruction& instruction) {
    switch (instruction.getOpcode()) {
        case Instruction::FAdd:
        case Instruction::FSub:
        case Instruction::FMul:
        case Instruction::FDiv:
        case Instruction::FRem:
            return {true, true};
        case Instruction::FNeg:
        case Instruction::FCmp:
        case Instruction::FPExt:
            return {true, false};
        case Instruction::FPTrunc:
            return {true, true};
        case Instruction::Call:
            return of_call(llvm::cast<llvm::CallInst>(instruction));
        default:
            return {};
    }
}

class FunctionFlush {
  public:
    void run(llvm::Function& function) {
        llvm::SmallVector<Instruction*, 64> worklist;
        for (Instruction& instruction : llvm::instructions(function)) {
            const Arithmetic arithmetic = of_instruction(instruction);
            if (!arithmetic.operands && !arithmetic.result) continue;
            worklist.push_back(&instruction);
            // Of flushed operands these make no smaller float.
            if (!arithmetic.result && is_float(instruction.getType())) clean_.insert(&instruction);
        }
        for (Instruction* instruction : worklist)
            if (of_instruction(*instruction).result && is_float(instruction->getType()))
                flush_result(*instruction);
        for (Instruction* instruction : worklist)
            if (of_instruction(*instruction).operands) flush_operands(*instruction);
    }

  private:
    // Never below the normal ones.
    bool is_clean(const Value* value) const {
        if (clean_.contains(value)) return true;
        if (auto* constant = llvm::dyn_cast<llvm::ConstantFP>(value))
            return !constant->getValueAPF().isDenormal();
        if (llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(value)) return true;
        auto* widened = llvm::dyn_cast<llvm::FPExtInst>(value);
        return widened != nullptr && widened->getSrcTy()->getScalarType()->isHalfTy();
    }

    Value* flushed(llvm::IRBuilder<>& builder, Value* value) {
        llvm::Type* word = value->getType()->getWithNewType(builder.getInt32Ty());
        auto all = [&](uint32_t bits) { return llvm::ConstantInt::get(word, bits); };
        Value* bits = builder.CreateBitCast(value, word);
        Value* size = builder.CreateAnd(bits, all(0x7fffffffu));
        Value* sign = builder.CreateAnd(bits, all(0x80000000u));
        Value* zero = builder.CreateBitCast(sign, value->getType());
        Value* small = builder.CreateICmpULT(size, all(0x00800000u));
        Value* result = builder.CreateSelect(small, zero, value);
        clean_.insert(result);
        return result;
    }

    void flush_result(Instruction& instruction) {
        llvm::IRBuilder<> builder(instruction.getNextNode());
        llvm::SmallVector<llvm::Use*, 8> uses;
        for (llvm::Use& use : instruction.uses()) uses.push_back(&use);
        Value* result = flushed(builder, &instruction);
        for (llvm::Use* use : uses) use->set(result);
    }

    void flush_operands(Instruction& instruction) {
        auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        const unsigned count = call != nullptr ? call->arg_size() : instruction.getNumOperands();
        for (unsigned i = 0; i < count; ++i) {
            Value* operand = instruction.getOperand(i);
            if (!is_float(operand->getType()) || is_clean(operand)) continue;
            Value*& once = known_[{operand, instruction.getParent()}];
            if (once == nullptr) {
                llvm::IRBuilder<> builder(&instruction);
                once = flushed(builder, operand);
            }
            instruction.setOperand(i, once);
        }
    }

    llvm::DenseSet<const Value*> clean_;
    // The operand as the arithmetic of a block has it: instructions are visited in order.
    llvm::DenseMap<std::pair<Value*, llvm::BasicBlock*>, Value*> known_;
};

}  // namespace

void flush_small_floats(llvm::Module& module) {
    for (llvm::Function& function : module)
        if (!function.isDeclaration()) FunctionFlush().run(function);
}

}  // namespace trilane::cpu
