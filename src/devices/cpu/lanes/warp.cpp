// Warp operations: 32 lanes are one warp. The plan has shown that whoever an operation waits for is
// here, so it happens where it stands. With one mask for all it is a few vector instructions; with
// different masks the runtime sorts the lanes into groups.
#include <llvm/IR/MDBuilder.h>

#include "devices/cpu/lanes/emitter.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/region_thread.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr unsigned kWarp = 32;

bool is_reduction(Suspend kind) { return kind >= Suspend::ReduceAdd && kind <= Suspend::ReduceXor; }

bool is_vote(Suspend kind) { return kind >= Suspend::VoteAll && kind <= Suspend::Ballot; }

bool is_shuffle(Suspend kind) {
    return kind >= Suspend::ShuffleUp && kind <= Suspend::ShuffleIndex;
}

bool is_all_ones(Value* mask) {
    auto* constant = dyn_cast<Constant>(mask);
    return constant != nullptr && constant->isAllOnesValue();
}

}  // namespace

void LaneEmitter::emit_warp_operation(CallBase& call, const SuspendForm& form) {
    if (lanes_ != kWarp || !is_warp_operation(form))
        refuse(call, "a barrier, or a warp operation in less lanes than a warp has");
    if (!plan_.comes_together(call)) refuse(call, "a warp operation to which lanes come apart");
    check_waiting(call, form);
    if (form.kind == Suspend::SyncWarp) return;
    if (form.kind == Suspend::ActiveMask) return define(call, bits(mask_));
    bool one_mask = plan_.shape(call.getArgOperand(unsigned(form.mask))).is_uniform();
    if (one_mask && is_vote(form.kind)) return define(call, vote(call, form));
    if (one_mask && is_reduction(form.kind)) return define(call, reduce(call, form));
    if (one_mask && is_shuffle(form.kind)) return define(call, shuffle(call, form));
    define(call, exchange(call, form));
}

// Lanes on their way to a barrier of the block never come to the operation: who names them waits
// for ever. All come to the barrier together, so none has passed its end yet.
void LaneEmitter::check_waiting(CallBase& call, const SuspendForm& form) {
    if (form.mask < 0 || is_all_ones(mask_)) return;
    Type* word = builder_.getInt32Ty();
    Value *waiting = nullptr, *here = bits(mask_);
    for (BasicBlock* other : plan_.waiting_before(call)) {
        Value* more = bits(builder_.CreateLoad(mask_->getType(), blocks_[other].pending));
        waiting = waiting == nullptr ? more : builder_.CreateOr(waiting, more);
    }
    if (waiting == nullptr) return;
    Value* mask = call.getArgOperand(unsigned(form.mask));
    Value* named = nullptr;
    if (plan_.shape(mask).is_uniform()) {
        named = scalar(mask);
    } else {
        Value* nobody = Constant::getNullValue(widened(word));
        named = builder_.CreateOrReduce(builder_.CreateSelect(mask_, vector(mask), nobody));
    }
    Value* missing =
        builder_.CreateAnd(named, builder_.CreateAnd(waiting, builder_.CreateNot(here)));
    auto* stuck = BasicBlock::Create(context_, "stuck", &vector_function_);
    auto* fine = BasicBlock::Create(context_, "together", &vector_function_);
    builder_.CreateCondBr(builder_.CreateICmpEQ(missing, builder_.getInt32(0)), fine, stuck,
                          MDBuilder(context_).createBranchWeights(1 << 20, 1));
    builder_.SetInsertPoint(stuck);
    const MDNode* line = call.getMetadata(kLineMark);
    // Only regions have such lanes: the thread's indices are arguments.
    Value* arguments[] = {
        builder_.getInt32(uint32_t(form.kind)),
        line != nullptr ? mdconst::extract<ConstantInt>(line->getOperand(0)) : builder_.getInt32(0),
        named,
        missing,
        here,
        vector_function_.getArg(RegionThread::kX),
        vector_function_.getArg(RegionThread::kY),
        vector_function_.getArg(RegionThread::kZ)};
    SmallVector<Type*, 8> types(std::size(arguments), word);
    builder_.CreateCall(
        vector_function_.getParent()->getOrInsertFunction(
            "__trl_rt_stuck", FunctionType::get(builder_.getVoidTy(), types, false)),
        arguments);
    builder_.CreateUnreachable();
    builder_.SetInsertPoint(fine);
}

Value* LaneEmitter::vote(CallBase& call, const SuspendForm& form) {
    Value* yes = bits(both(mask_, vector(call.getArgOperand(unsigned(form.value)))));
    Value *here = bits(mask_), *nobody = builder_.getInt32(0);
    switch (form.kind) {
        case Suspend::VoteAll:
            return builder_.CreateICmpEQ(yes, here);
        case Suspend::VoteAny:
            return builder_.CreateICmpNE(yes, nobody);
        case Suspend::VoteUniform:
            return builder_.CreateOr(builder_.CreateICmpEQ(yes, nobody),
                                     builder_.CreateICmpEQ(yes, here));
        default:
            return yes;
    }
}

Value* LaneEmitter::reduce(CallBase& call, const SuspendForm& form) {
    struct Reduction {
        Intrinsic::ID id;
        uint32_t neutral;
    };
    static const Reduction table[] = {
        {Intrinsic::vector_reduce_add, 0},
        {Intrinsic::vector_reduce_smin, INT32_MAX},
        {Intrinsic::vector_reduce_smax, uint32_t(INT32_MIN)},
        {Intrinsic::vector_reduce_umin, UINT32_MAX},
        {Intrinsic::vector_reduce_umax, 0},
        {Intrinsic::vector_reduce_and, UINT32_MAX},
        {Intrinsic::vector_reduce_or, 0},
        {Intrinsic::vector_reduce_xor, 0},
    };
    const Reduction& reduction =
        table[static_cast<uint32_t>(form.kind) - static_cast<uint32_t>(Suspend::ReduceAdd)];
    Value* lanes = vector(call.getArgOperand(unsigned(form.value)));
    Value* off = ConstantInt::get(lanes->getType(), reduction.neutral);
    return builder_.CreateIntrinsic(reduction.id, {lanes->getType()},
                                    {builder_.CreateSelect(mask_, lanes, off)});
}

// Lane i of the result is lane source[i].
Value* LaneEmitter::pick(Value* lanes, Value* source) {
    if (auto* constant = dyn_cast<Constant>(source)) {
        SmallVector<int, kWarp> order;
        for (unsigned i = 0; i < lanes_; ++i) {
            auto* number = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(i));
            if (number == nullptr) break;
            order.push_back(int(number->getZExtValue()));
        }
        if (order.size() == lanes_) return builder_.CreateShuffleVector(lanes, order);
    }
    auto* type = cast<FixedVectorType>(lanes->getType());
    IRBuilder<> entry(prologue_, prologue_->begin());
    AllocaInst* place = entry.CreateAlloca(type, nullptr, "warp");
    builder_.CreateStore(lanes, place);
    Value* addresses = builder_.CreateGEP(type->getElementType(), place, source);
    return builder_.CreateMaskedGather(type, addresses,
                                       data_.getABITypeAlign(type->getElementType()), mask_,
                                       Constant::getNullValue(type));
}

// As shuffle_source() and shuffle() of run/warp_ops.cpp have it.
Value* LaneEmitter::shuffle(CallBase& call, const SuspendForm& form) {
    Value* value = call.getArgOperand(unsigned(form.value));
    Value* number = call.getArgOperand(unsigned(form.operand[0]));
    if (plan_.shape(&call).is_uniform()) {
        Value* lane = builder_.CreateAnd(scalar(number), 31);
        return plan_.shape(value).is_uniform() ? scalar(value)
                                               : builder_.CreateExtractElement(vector(value), lane);
    }
    auto all = [&](uint32_t same) {
        return ConstantInt::get(FixedVectorType::get(builder_.getInt32Ty(), lanes_), same);
    };
    SmallVector<Constant*, kWarp> numbers;
    for (unsigned i = 0; i < lanes_; ++i) numbers.push_back(builder_.getInt32(i));
    Value* lane = ConstantVector::get(numbers);
    // Of lanes that are off nothing may be promised.
    auto known = [&](Value* operand) {
        Value* lanes = vector(operand);
        return isa<Constant>(lanes) ? lanes : builder_.CreateFreeze(lanes);
    };
    Value* by = builder_.CreateAnd(known(number), all(31));
    Value* clamp = known(call.getArgOperand(unsigned(form.operand[1])));
    Value* segment = builder_.CreateAnd(builder_.CreateLShr(clamp, all(8)), all(31));
    Value* outside = builder_.CreateNot(segment);
    Value* first = builder_.CreateAnd(lane, segment);
    Value* last =
        builder_.CreateOr(first, builder_.CreateAnd(builder_.CreateAnd(clamp, all(31)), outside));
    Value* source = nullptr;
    switch (form.kind) {
        case Suspend::ShuffleUp:
            source = builder_.CreateSub(lane, by);
            break;
        case Suspend::ShuffleDown:
            source = builder_.CreateAdd(lane, by);
            break;
        case Suspend::ShuffleXor:
            source = builder_.CreateXor(lane, by);
            break;
        default:
            source = builder_.CreateOr(first, builder_.CreateAnd(by, outside));
    }
    Value* inside = form.kind == Suspend::ShuffleUp ? builder_.CreateICmpSGE(source, last)
                                                    : builder_.CreateICmpSLE(source, last);
    source = builder_.CreateSelect(inside, builder_.CreateAnd(source, all(31)), lane);
    Value* lanes = vector(value);
    // Who reads a lane that is not here keeps its own value.
    Value* there = Constant::getAllOnesValue(mask_->getType());
    if (!is_all_ones(mask_)) {
        Value* here = builder_.CreateVectorSplat(lanes_, bits(mask_));
        there = builder_.CreateICmpNE(builder_.CreateAnd(builder_.CreateLShr(here, source), all(1)),
                                      all(0));
    }
    Value* result = pick(lanes, source);
    if (!is_all_ones(there)) result = builder_.CreateSelect(there, result, lanes);
    if (form.result != SuspendForm::Result::ValueAndPredicate) return result;
    Value* pair = builder_.CreateInsertValue(PoisonValue::get(widened(call.getType())), result, 0);
    return builder_.CreateInsertValue(pair, inside, 1);
}

// Through memory, by the runtime: any operation, any masks.
Value* LaneEmitter::exchange(CallBase& call, const SuspendForm& form) {
    IRBuilder<> entry(prologue_, prologue_->begin());
    AllocaInst* place = entry.CreateAlloca(ArrayType::get(entry.getInt8Ty(), sizeof(WarpExchange)),
                                           nullptr, "warp");
    place->setAlignment(Align(alignof(WarpExchange)));
    auto field = [&](size_t offset) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), place, offset);
    };
    Type* words = FixedVectorType::get(builder_.getInt32Ty(), lanes_);
    Type* longs = FixedVectorType::get(builder_.getInt64Ty(), lanes_);
    auto put = [&](int operand, size_t offset, Type* type) {
        if (operand < 0) return;
        Value* lanes = vector(call.getArgOperand(unsigned(operand)));
        if (lanes->getType()->isFPOrFPVectorTy()) lanes = builder_.CreateBitCast(lanes, words);
        builder_.CreateAlignedStore(builder_.CreateZExtOrTrunc(lanes, type), field(offset),
                                    Align(64));
    };
    put(form.mask, offsetof(WarpExchange, mask), words);
    put(form.value, offsetof(WarpExchange, value), longs);
    put(form.operand[0], offsetof(WarpExchange, operand[0]), words);
    put(form.operand[1], offsetof(WarpExchange, operand[1]), words);
    FunctionCallee runtime = scalar_function_.getParent()->getOrInsertFunction(
        "__trl_rt_warp_exchange",
        FunctionType::get(builder_.getVoidTy(),
                          {builder_.getInt32Ty(), builder_.getInt32Ty(), builder_.getPtrTy()},
                          false));
    builder_.CreateCall(runtime,
                        {builder_.getInt32(static_cast<uint32_t>(form.kind)), bits(mask_), place});
    auto get = [&](size_t offset) -> Value* {
        return builder_.CreateAlignedLoad(words, field(offset), Align(64));
    };
    auto truth = [&](Value* lanes) {
        return builder_.CreateICmpNE(lanes, Constant::getNullValue(words));
    };
    Value* result = get(offsetof(WarpExchange, result));
    switch (form.result) {
        case SuspendForm::Result::I1:
            return truth(result);
        case SuspendForm::Result::F32:
            return builder_.CreateBitCast(result, widened(call.getType()));
        case SuspendForm::Result::ValueAndPredicate: {
            auto* type = cast<StructType>(widened(call.getType()));
            Value* pair = builder_.CreateInsertValue(
                PoisonValue::get(type), builder_.CreateBitCast(result, type->getElementType(0)), 0);
            return builder_.CreateInsertValue(pair, truth(get(offsetof(WarpExchange, predicate))),
                                              1);
        }
        default:
            return result;
    }
}

}  // namespace trilane::cpu
