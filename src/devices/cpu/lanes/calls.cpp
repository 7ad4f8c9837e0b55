// Calls, and what only runs lane by lane.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>

#include "devices/cpu/lanes/emitter.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/prepare.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

unsigned part_count(Type* type) {
    return type->isStructTy() ? type->getStructNumElements()
                              : unsigned(type->getArrayNumElements());
}

// A structure or an array of as many parts, each as `change` says.
Type* with_parts(Type* type, function_ref<Type*(Type*)> change) {
    if (auto* array = dyn_cast<ArrayType>(type))
        return ArrayType::get(change(array->getElementType()), array->getNumElements());
    SmallVector<Type*, 4> parts;
    for (Type* part : type->subtypes()) parts.push_back(change(part));
    return StructType::get(type->getContext(), parts);
}

// Bits have no address per lane: bytes in memory. Of vectors and of scalars.
Type* in_memory(Type* type) {
    if (type->isAggregateType()) return with_parts(type, in_memory);
    if (!type->getScalarType()->isIntegerTy(1)) return type;
    Type* byte = Type::getInt8Ty(type->getContext());
    auto* vector = dyn_cast<FixedVectorType>(type);
    return vector == nullptr ? byte : FixedVectorType::get(byte, vector->getNumElements());
}

Type* lane_of(Type* type) {
    if (type->isAggregateType()) return with_parts(type, lane_of);
    return cast<FixedVectorType>(type)->getElementType();
}

// Lane `lane` of a vector, or of the vectors of a structure or an array, that lies at `place`.
Value* load_lane(IRBuilder<>& builder, Value* place, Type* type, Value* lane) {
    if (!type->isAggregateType()) {
        Type* element = lane_of(type);
        return builder.CreateLoad(element, builder.CreateGEP(element, place, lane));
    }
    Value* result = PoisonValue::get(lane_of(type));
    for (unsigned i = 0; i < part_count(type); ++i) {
        Value* part = builder.CreateConstInBoundsGEP2_32(type, place, 0, i);
        Type* inner = GetElementPtrInst::getTypeAtIndex(type, uint64_t(i));
        result = builder.CreateInsertValue(result, load_lane(builder, part, inner, lane), i);
    }
    return result;
}

void store_lane(IRBuilder<>& builder, Value* value, Value* place, Type* type, Value* lane) {
    if (!type->isAggregateType()) {
        builder.CreateStore(value, builder.CreateGEP(lane_of(type), place, lane));
        return;
    }
    for (unsigned i = 0; i < part_count(type); ++i)
        store_lane(builder, builder.CreateExtractValue(value, i),
                   builder.CreateConstInBoundsGEP2_32(type, place, 0, i),
                   GetElementPtrInst::getTypeAtIndex(type, uint64_t(i)), lane);
}

// Between a value and its form in memory, vectors or scalars.
Value* converted(IRBuilder<>& builder, Value* value, Type* type) {
    if (value->getType() == type) return value;
    if (type->isAggregateType()) {
        Value* result = PoisonValue::get(type);
        for (unsigned i = 0; i < part_count(type); ++i)
            result = builder.CreateInsertValue(
                result,
                converted(builder, builder.CreateExtractValue(value, i),
                          GetElementPtrInst::getTypeAtIndex(type, uint64_t(i))),
                i);
        return result;
    }
    if (type->getScalarType()->isIntegerTy(1))
        return builder.CreateICmpNE(value, Constant::getNullValue(value->getType()));
    return builder.CreateZExt(value, type);
}

}  // namespace

Value* LaneEmitter::for_each_lane(ArrayRef<Value*> operands, Type* result,
                                  const std::function<Value*(Value*, ArrayRef<Value*>)>& step) {
    // Lanes are picked from memory: a vector register cannot be indexed.
    SmallVector<Value*, 4> places(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
        if (plan_.shape(operands[i]).is_uniform()) continue;
        Value* lanes = vector(operands[i]);
        Type* type = in_memory(lanes->getType());
        IRBuilder<> entry(prologue_, prologue_->begin());
        places[i] = entry.CreateAlloca(type, nullptr, "lanes");
        builder_.CreateStore(converted(builder_, lanes, type), places[i]);
    }
    Type* all = result->isVoidTy() ? nullptr : widened(result);
    Value* results = nullptr;
    if (all != nullptr) {
        IRBuilder<> entry(prologue_, prologue_->begin());
        results = entry.CreateAlloca(in_memory(all), nullptr, "results");
        builder_.CreateStore(Constant::getNullValue(in_memory(all)), results);
    }
    // Uniform operands are asked for before the loop, where what they load is known to all.
    SmallVector<Value*, 4> given(operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
        if (places[i] == nullptr) given[i] = scalar(operands[i]);
    BasicBlock* before = builder_.GetInsertBlock();
    auto* loop = BasicBlock::Create(context_, "each", &vector_function_);
    auto* after = BasicBlock::Create(context_, "all", &vector_function_);
    Type* word = builder_.getInt64Ty();
    Value* active = builder_.CreateZExt(bits(mask_), word);
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    PHINode* left = builder_.CreatePHI(word, 2);
    left->addIncoming(active, before);
    Value* lane = builder_.CreateBinaryIntrinsic(Intrinsic::cttz, left, builder_.getTrue());
    SmallVector<Value*, 4> own;
    for (size_t i = 0; i < operands.size(); ++i) {
        if (places[i] == nullptr) {
            own.push_back(given[i]);
            continue;
        }
        Type* type = cast<AllocaInst>(places[i])->getAllocatedType();
        own.push_back(converted(builder_, load_lane(builder_, places[i], type, lane),
                                operands[i]->getType()));
    }
    if (thread_base_ != nullptr) {
        Value* base = builder_.CreateLoad(thread_base_->getAllocatedType(), thread_base_);
        builder_.CreateAlignedStore(
            builder_.CreateAdd(base, builder_.CreateTrunc(lane, base->getType())),
            scalar(thread_place_), Align(4));
    }
    Value* made = step(lane, own);
    if (results != nullptr)
        store_lane(builder_, converted(builder_, made, in_memory(result)), results, in_memory(all),
                   lane);
    Value* rest = builder_.CreateAnd(left, builder_.CreateSub(left, ConstantInt::get(word, 1)));
    left->addIncoming(rest, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpNE(rest, ConstantInt::get(word, 0)), loop, after);
    builder_.SetInsertPoint(after);
    if (results == nullptr) return nullptr;
    return converted(builder_, builder_.CreateLoad(in_memory(all), results), all);
}

void LaneEmitter::emit_by_lane(Instruction& instruction) {
    SmallVector<Value*, 4> operands;
    SmallVector<unsigned, 4> numbers;
    auto* call = dyn_cast<CallBase>(&instruction);
    for (Use& operand : instruction.operands()) {
        if (call != nullptr && call->isCallee(&operand) && isa<Constant>(operand)) continue;
        if (isa<Constant>(operand) || isa<MetadataAsValue>(operand) || isa<InlineAsm>(operand))
            continue;
        operands.push_back(operand);
        numbers.push_back(operand.getOperandNo());
    }
    Type* type = instruction.use_empty() ? builder_.getVoidTy() : instruction.getType();
    Value* result = for_each_lane(operands, type, [&](Value*, ArrayRef<Value*> own) {
        Instruction* copy = instruction.clone();
        for (size_t i = 0; i < own.size(); ++i) copy->setOperand(numbers[i], own[i]);
        builder_.Insert(copy);
        return copy;
    });
    if (result != nullptr) define(instruction, result);
}

void LaneEmitter::emit_intrinsic(IntrinsicInst& call) {
    Intrinsic::ID id = call.getIntrinsicID();
    SmallVector<Type*, 2> types;
    if (isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) types.push_back(widened(call.getType()));
    SmallVector<Value*, 4> arguments;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
        Value* argument = call.getArgOperand(i);
        bool stays = isVectorIntrinsicWithScalarOpAtArg(id, i);
        if (stays && !plan_.shape(argument).is_uniform()) return emit_by_lane(call);
        arguments.push_back(stays ? scalar(argument) : vector(argument));
        if (isVectorIntrinsicWithOverloadTypeAtArg(id, int(i)))
            types.push_back(arguments.back()->getType());
    }
    Function* callee = Intrinsic::getDeclaration(scalar_function_.getParent(), id, types);
    CallInst* result = builder_.CreateCall(callee, arguments);
    if (isa<FPMathOperator>(call)) result->copyFastMathFlags(&call);
    define(call, result);
}

// A hint: the lines of a row whose lanes most likely lie side by side, nothing for others.
void LaneEmitter::emit_prefetch(IntrinsicInst& call) {
    constexpr int64_t kLine = 64, kMostLines = 8;
    std::optional<Guess> row = guess(call.getArgOperand(0));
    if (!row || row->stride < 0 || row->stride > kMostLines * kLine / int64_t(lanes_)) return;
    for (int64_t at = 0; at == 0 || at < row->stride * int64_t(lanes_); at += kLine) {
        Instruction* copy = call.clone();
        copy->setOperand(
            0, builder_.CreateConstGEP1_64(builder_.getInt8Ty(), row->base, uint64_t(at)));
        builder_.Insert(copy);
    }
}

void LaneEmitter::emit_call(CallBase& call) {
    if (!isa<CallInst>(call)) refuse(call, "a call that may unwind");
    auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
    if (intrinsic != nullptr &&
        (intrinsic->isAssumeLikeIntrinsic() || intrinsic->isLifetimeStartOrEnd()) &&
        call.getType()->isVoidTy())
        return;
    if (is_waits_mark(call)) return;
    if (Function* callee = call.getCalledFunction()) {
        if (auto form = suspend_of(*callee)) return emit_warp_operation(call, *form);
    }
    if (intrinsic != nullptr && intrinsic->getIntrinsicID() == Intrinsic::prefetch)
        return emit_prefetch(*intrinsic);
    if (plan_.shape(&call).is_uniform() && !call.getType()->isVoidTy()) return emit_scalar(call);
    if (intrinsic != nullptr && isTriviallyVectorizable(intrinsic->getIntrinsicID()) &&
        is_floating_or_integer(call.getType()))
        return emit_intrinsic(*intrinsic);
    emit_by_lane(call);
}

bool LaneEmitter::is_floating_or_integer(Type* type) {
    return type->isFloatingPointTy() || type->isIntegerTy();
}

}  // namespace trilane::cpu
