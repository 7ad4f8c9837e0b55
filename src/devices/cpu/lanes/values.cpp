// Operands in scalar and vector form, and arithmetic.
#include <llvm/IR/IntrinsicInst.h>

#include "core/error.h"
#include "devices/cpu/lanes/emitter.h"

namespace trilane::cpu {

using namespace llvm;

void LaneEmitter::refuse(const Instruction& instruction, const char* why) const {
    throw NotInLanes{std::string(why) + " (" + instruction.getOpcodeName() + ")"};
}

AllocaInst* LaneEmitter::entry_alloca(Type* type, const Twine& name) {
    IRBuilder<> builder(prologue_, prologue_->begin());
    AllocaInst* place = builder.CreateAlloca(type, nullptr, name);
    registers_.push_back(place);
    return place;
}

Type* LaneEmitter::widened(Type* type) const {
    if (type->isVoidTy()) return type;
    if (auto* structure = dyn_cast<StructType>(type)) {
        SmallVector<Type*, 4> parts;
        for (Type* part : structure->elements()) parts.push_back(widened(part));
        return StructType::get(context_, parts);
    }
    if (auto* array = dyn_cast<ArrayType>(type))
        return ArrayType::get(widened(array->getElementType()), array->getNumElements());
    if (!VectorType::isValidElementType(type)) throw NotInLanes{"a type that has no vectors"};
    return FixedVectorType::get(type, lanes_);
}

Value* LaneEmitter::splat(Value* value) {
    Type* type = value->getType();
    if (type->isStructTy() || type->isArrayTy()) {
        Value* result = PoisonValue::get(widened(type));
        unsigned count = type->isStructTy() ? type->getStructNumElements()
                                            : unsigned(type->getArrayNumElements());
        for (unsigned i = 0; i < count; ++i)
            result =
                builder_.CreateInsertValue(result, splat(builder_.CreateExtractValue(value, i)), i);
        return result;
    }
    if (!VectorType::isValidElementType(type)) throw NotInLanes{"a type that has no vectors"};
    return builder_.CreateVectorSplat(lanes_, value);
}

// `on` in the lanes, `off` in the others. Structures part by part.
Value* LaneEmitter::blended(Value* lanes, Value* on, Value* off) {
    Type* type = on->getType();
    if (!type->isAggregateType()) return builder_.CreateSelect(lanes, on, off);
    Value* result = PoisonValue::get(type);
    unsigned count =
        type->isStructTy() ? type->getStructNumElements() : unsigned(type->getArrayNumElements());
    for (unsigned i = 0; i < count; ++i)
        result = builder_.CreateInsertValue(
            result,
            blended(lanes, builder_.CreateExtractValue(on, i), builder_.CreateExtractValue(off, i)),
            i);
    return result;
}

// base + lane * stride in each lane.
Value* LaneEmitter::spread(Value* base, Type* type, int64_t stride) {
    Type* step = type->isPointerTy() ? builder_.getInt64Ty() : type;
    SmallVector<Constant*, 32> steps;
    for (unsigned i = 0; i < lanes_; ++i)
        steps.push_back(ConstantInt::get(step, uint64_t(stride * int64_t(i)), true));
    Value* offsets = ConstantVector::get(steps);
    if (type->isPointerTy()) return builder_.CreateGEP(builder_.getInt8Ty(), base, offsets);
    return builder_.CreateAdd(builder_.CreateVectorSplat(lanes_, base), offsets);
}

AllocaInst* LaneEmitter::slot(const Instruction& instruction) {
    AllocaInst*& place = slots_[&instruction];
    if (place == nullptr) {
        Type* type = instruction.getType();
        place = entry_alloca(plan_.shape(&instruction).has_base() ? type : widened(type),
                             instruction.getName());
    }
    return place;
}

Value* LaneEmitter::load_slot(const Instruction& instruction) {
    AllocaInst* place = slot(instruction);
    return builder_.CreateLoad(place->getAllocatedType(), place);
}

Value* LaneEmitter::scalar(Value* value) {
    if (auto* argument = dyn_cast<Argument>(value))
        return vector_function_.getArg(argument->getArgNo());
    auto* instruction = dyn_cast<Instruction>(value);
    if (instruction == nullptr) return value;
    TRILANE_CHECK(plan_.shape(value).has_base(), "lane 0 asked of a varying value");
    if (auto known = scalars_.find(value); known != scalars_.end()) return known->second;
    return scalars_[value] = load_slot(*instruction);
}

Value* LaneEmitter::vector(Value* value) {
    if (auto* constant = dyn_cast<Constant>(value)) {
        if (isa<UndefValue>(value) && !value->getType()->isAggregateType())
            return PoisonValue::get(widened(value->getType()));
        return splat(constant);
    }
    if (auto known = vectors_.find(value); known != vectors_.end()) return known->second;
    LaneShape shape = plan_.shape(value);
    Value* result = nullptr;
    if (shape.is_uniform())
        result = splat(scalar(value));
    else if (shape.is_affine())
        result = spread(scalar(value), value->getType(), shape.stride);
    else
        result = load_slot(*cast<Instruction>(value));
    return vectors_[value] = result;
}

void LaneEmitter::define(Instruction& instruction, Value* value) {
    if (instruction.getType()->isVoidTy()) return;
    if (plan_.shape(&instruction).has_base()) {
        // A guess asks for it wherever one of the addresses made from it is used.
        scalars_[&instruction] = value;
        builder_.CreateStore(value, slot(instruction));
        return;
    }
    vectors_[&instruction] = value;
    for (const User* user : instruction.users()) {
        auto* where = cast<Instruction>(user);
        if (where->getParent() != instruction.getParent() || isa<PHINode>(where)) {
            builder_.CreateStore(value, slot(instruction));
            return;
        }
    }
}

void LaneEmitter::emit(Instruction& instruction) {
    if (auto* array = dyn_cast<AllocaInst>(&instruction)) return emit_array(*array);
    if (auto* load = dyn_cast<LoadInst>(&instruction)) return emit_load(*load);
    if (auto* store = dyn_cast<StoreInst>(&instruction)) return emit_store(*store);
    if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return emit_atomic(instruction);
    if (auto* call = dyn_cast<CallBase>(&instruction)) return emit_call(*call);
    if (isa<FenceInst>(instruction)) {
        builder_.Insert(instruction.clone());
        return;
    }
    if (plan_.shape(&instruction).has_base()) return emit_scalar(instruction);
    emit_vector(instruction);
}

// Once for all lanes. Lane 0 may be off where the value is affine: nothing may be promised of it.
void LaneEmitter::emit_scalar(Instruction& instruction) {
    Instruction* copy = instruction.clone();
    for (Use& operand : copy->operands())
        if (isa<Instruction, Argument>(operand)) operand.set(scalar(operand));
    bool of_lane_0 = plan_.shape(&instruction).is_affine();
    for (const Use& operand : instruction.operands()) of_lane_0 |= plan_.shape(operand).is_affine();
    if (of_lane_0) copy->dropPoisonGeneratingFlags();
    Value* base = of_lane_0 ? exact_in_lane_0(instruction, *copy) : nullptr;
    if (base == nullptr)
        base = builder_.Insert(copy, instruction.getName());
    else
        copy->deleteValue();
    define(instruction, base);
}

// Some operations give base + lane * stride only where their promise holds, and lane 0 may be off:
// bits that are set in both operands of `or`, a negative number said to be none. The sum and the
// extension with the sign give the base that belongs to the other lanes. Null for all others.
Value* LaneEmitter::exact_in_lane_0(const Instruction& original, Instruction& copy) {
    if (copy.getOpcode() == Instruction::Or)
        return builder_.CreateAdd(copy.getOperand(0), copy.getOperand(1));
    if (original.getOpcode() == Instruction::ZExt && cast<CastInst>(original).hasNonNeg() &&
        plan_.shape(original.getOperand(0)).exact_signed)
        return builder_.CreateSExt(copy.getOperand(0), copy.getType());
    return nullptr;
}

// x86 divides no vectors of integers. 32-bit quotients are exact in double: the next larger double
// of a quotient is further away than the quotient from the next integer.
Value* LaneEmitter::divide(BinaryOperator& operation) {
    unsigned opcode = operation.getOpcode();
    bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
    bool remainder = opcode == Instruction::SRem || opcode == Instruction::URem;
    Type* type = operation.getType();
    Value *a = vector(operation.getOperand(0)), *b = vector(operation.getOperand(1));
    unsigned width = type->getScalarSizeInBits();
    // By constants LLVM multiplies.
    if (isa<Constant>(operation.getOperand(1)) || width > 32) {
        if (width > 32 && !isa<Constant>(operation.getOperand(1))) {
            // Lanes that are off may hold anything, also zero.
            Value* one = ConstantInt::get(b->getType(), 1);
            b = builder_.CreateFreeze(builder_.CreateSelect(mask_, b, one));
            a = builder_.CreateFreeze(a);
        }
        return builder_.CreateBinOp(operation.getOpcode(), a, b);
    }
    Type* real = FixedVectorType::get(builder_.getDoubleTy(), lanes_);
    Value* quotient = nullptr;
    if (is_signed)
        quotient = builder_.CreateFPToSI(
            builder_.CreateFDiv(builder_.CreateSIToFP(a, real), builder_.CreateSIToFP(b, real)),
            a->getType());
    else
        quotient = builder_.CreateFPToUI(
            builder_.CreateFDiv(builder_.CreateUIToFP(a, real), builder_.CreateUIToFP(b, real)),
            a->getType());
    if (!remainder) return quotient;
    return builder_.CreateSub(a, builder_.CreateMul(quotient, b));
}

void LaneEmitter::emit_vector(Instruction& instruction) {
    Value* result = nullptr;
    auto operand = [&](unsigned i) { return vector(instruction.getOperand(i)); };
    if (auto* operation = dyn_cast<BinaryOperator>(&instruction)) {
        switch (operation->getOpcode()) {
            case Instruction::SDiv:
            case Instruction::UDiv:
            case Instruction::SRem:
            case Instruction::URem:
                result = divide(*operation);
                break;
            default:
                result = builder_.CreateBinOp(operation->getOpcode(), operand(0), operand(1));
        }
    } else if (isa<UnaryOperator>(instruction)) {
        result = builder_.CreateUnOp(Instruction::UnaryOps(instruction.getOpcode()), operand(0));
    } else if (auto* compare = dyn_cast<CmpInst>(&instruction)) {
        result = builder_.CreateCmp(compare->getPredicate(), operand(0), operand(1));
    } else if (auto* conversion = dyn_cast<CastInst>(&instruction)) {
        result = builder_.CreateCast(conversion->getOpcode(), operand(0),
                                     widened(instruction.getType()));
    } else if (auto* choice = dyn_cast<SelectInst>(&instruction)) {
        Value* condition = plan_.shape(choice->getCondition()).is_uniform()
                               ? scalar(choice->getCondition())
                               : vector(choice->getCondition());
        result = condition->getType()->isVectorTy()
                     ? blended(condition, operand(1), operand(2))
                     : builder_.CreateSelect(condition, operand(1), operand(2));
    } else if (isa<FreezeInst>(instruction)) {
        result = builder_.CreateFreeze(operand(0));
    } else if (auto* address = dyn_cast<GetElementPtrInst>(&instruction)) {
        Value* base = plan_.shape(address->getPointerOperand()).is_uniform()
                          ? scalar(address->getPointerOperand())
                          : vector(address->getPointerOperand());
        SmallVector<Value*, 4> indices;
        for (Value* index : address->indices())
            indices.push_back(isa<Constant>(index) ? index : vector(index));
        result = builder_.CreateGEP(address->getSourceElementType(), base, indices);
        if (!result->getType()->isVectorTy()) result = splat(result);
    } else if (auto* part = dyn_cast<ExtractValueInst>(&instruction)) {
        result = builder_.CreateExtractValue(operand(0), part->getIndices());
    } else if (auto* whole = dyn_cast<InsertValueInst>(&instruction)) {
        result = builder_.CreateInsertValue(operand(0), operand(1), whole->getIndices());
    } else {
        refuse(instruction, "an operation that has no vector form");
    }
    if (auto* made = dyn_cast<Instruction>(result);
        made != nullptr && isa<FPMathOperator>(made) && isa<FPMathOperator>(instruction))
        made->copyFastMathFlags(&instruction);
    define(instruction, result);
}

}  // namespace trilane::cpu
