// Shapes of values: a fixed point over the function, from below.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "devices/cpu/lanes/plan.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

using namespace llvm;

constexpr unsigned kWarp = 32;

LaneShape LanePlan::shape(const Value* value) const {
    if (auto found = shapes_.find(value); found != shapes_.end()) return found->second;
    if (auto* argument = dyn_cast<Argument>(value))
        return LaneShape::uniform(vector_.zeros[argument->getArgNo()]);
    if (auto* constant = dyn_cast<ConstantInt>(value))
        return LaneShape::uniform(std::min(constant->getValue().countr_zero(), 63u));
    return isa<Instruction>(value) ? LaneShape{} : LaneShape::uniform();
}

void LanePlan::find_shapes(const Argument& lane) {
    shapes_[&lane] = LaneShape::affine(1, true, true, vector_.zeros[lane.getArgNo()]);
    for (bool changed = true; changed;) {
        changed = false;
        for (BasicBlock* block : order_) {
            for (Instruction& instruction : *block) {
                LaneShape& known = shapes_[&instruction];
                // Down only: what once was found to differ stays so.
                LaneShape found = shape_of(instruction);
                if (found.has_base() && !isa<PHINode, SelectInst>(instruction))
                    found.zeros = uint8_t(zeros_of(instruction));
                found = join(found, shapes_[&instruction]);
                if (found == known) continue;
                shapes_[&instruction] = found;
                changed = true;
            }
        }
    }
}

namespace {

std::optional<int64_t> constant_of(const Value* value) {
    auto* constant = dyn_cast<ConstantInt>(value);
    if (constant == nullptr || constant->getBitWidth() > 64) return std::nullopt;
    return constant->getSExtValue();
}

LaneShape sum(LaneShape a, LaneShape b, int64_t sign, bool nsw, bool nuw) {
    int64_t stride = 0;
    if (__builtin_mul_overflow(b.stride, sign, &stride) ||
        __builtin_add_overflow(a.stride, stride, &stride))
        return LaneShape::varying();
    if (stride == 0) return LaneShape::uniform();
    // What does not wrap in the lanes that are on may in lane 0, from which rows are counted: a
    // difference below zero, or a falling row. A rising sum is least in lane 0.
    const bool rising = sign > 0 && stride > 0;
    return LaneShape::affine(stride, a.exact_signed && b.exact_signed && nsw,
                             a.exact_unsigned && b.exact_unsigned && nuw && rising);
}

LaneShape scaled(LaneShape a, int64_t factor, bool nsw, bool nuw) {
    int64_t stride = 0;
    if (__builtin_mul_overflow(a.stride, factor, &stride)) return LaneShape::varying();
    if (stride == 0) return LaneShape::uniform();
    return LaneShape::affine(stride, a.exact_signed && nsw, a.exact_unsigned && nuw && factor > 0);
}

bool all_uniform(const Instruction& instruction, const LanePlan& plan) {
    return all_of(instruction.operands(), [&](const Use& operand) {
        return isa<BasicBlock>(operand) || plan.shape(operand).is_uniform();
    });
}

bool any_unknown(const Instruction& instruction, const LanePlan& plan) {
    return any_of(instruction.operands(),
                  [&](const Use& operand) { return plan.shape(operand).is_unknown(); });
}

}  // namespace

// base + lane, with base a multiple of the number of lanes.
bool LanePlan::is_aligned_row(LaneShape shape) const {
    return shape.is_affine() && shape.stride == 1 && vector_.lanes > 1 &&
           isPowerOf2_32(vector_.lanes) && shape.zeros >= Log2_32(vector_.lanes);
}

// Of what lane 0 holds, the power of two that divides it.
unsigned LanePlan::zeros_of(const Instruction& instruction) const {
    if (!instruction.getType()->isIntegerTy()) return 0;
    auto zeros = [&](unsigned i) -> unsigned {
        LaneShape operand = shape(instruction.getOperand(i));
        return operand.has_base() ? operand.zeros : 0;
    };
    switch (instruction.getOpcode()) {
        case Instruction::Add:
        case Instruction::Sub:
        case Instruction::Or:
        case Instruction::Xor:
            return std::min(zeros(0), zeros(1));
        case Instruction::And:
            return std::max(zeros(0), zeros(1));
        case Instruction::Mul:
            return std::min(zeros(0) + zeros(1), 63u);
        case Instruction::Shl: {
            auto by = constant_of(instruction.getOperand(1));
            return by && *by >= 0 && *by < 64 ? std::min(zeros(0) + unsigned(*by), 63u) : zeros(0);
        }
        case Instruction::ZExt:
        case Instruction::SExt:
        case Instruction::Trunc:
        case Instruction::Freeze:
            return zeros(0);
        default:
            return 0;
    }
}

LaneShape LanePlan::shape_of_compare(const ICmpInst& compare) const {
    LaneShape a = shape(compare.getOperand(0)), b = shape(compare.getOperand(1));
    ICmpInst::Predicate predicate = compare.getPredicate();
    const Value* limit = compare.getOperand(1);
    if (b.is_affine()) {
        std::swap(a, b);
        predicate = ICmpInst::getSwappedPredicate(predicate);
        limit = compare.getOperand(0);
    }
    bool wide = compare.getOperand(0)->getType()->getScalarSizeInBits() >= 8;
    if (!wide || !is_aligned_row(a) || !b.is_uniform()) return LaneShape::varying();
    // The limit lies between two rows.
    switch (predicate) {
        case ICmpInst::ICMP_ULT:
        case ICmpInst::ICMP_UGE:
        case ICmpInst::ICMP_SLT:
        case ICmpInst::ICMP_SGE:
            return b.zeros >= Log2_32(vector_.lanes) ? LaneShape::uniform() : LaneShape::varying();
        case ICmpInst::ICMP_ULE:
        case ICmpInst::ICMP_UGT:
        case ICmpInst::ICMP_SLE:
        case ICmpInst::ICMP_SGT: {
            auto last = constant_of(limit);
            return last && (uint64_t(*last) + 1) % vector_.lanes == 0 ? LaneShape::uniform()
                                                                      : LaneShape::varying();
        }
        default:
            return LaneShape::varying();
    }
}

LaneShape LanePlan::shape_of_binary(const BinaryOperator& operation) const {
    LaneShape a = shape(operation.getOperand(0)), b = shape(operation.getOperand(1));
    if (!a.has_base() || !b.has_base()) return LaneShape::varying();
    auto* wrapping = dyn_cast<OverflowingBinaryOperator>(&operation);
    bool nsw = wrapping != nullptr && wrapping->hasNoSignedWrap();
    bool nuw = wrapping != nullptr && wrapping->hasNoUnsignedWrap();
    switch (operation.getOpcode()) {
        case Instruction::Add:
            return sum(a, b, 1, nsw, nuw);
        case Instruction::Sub:
            return sum(a, b, -1, nsw, nuw);
        case Instruction::Or:
            if (cast<PossiblyDisjointInst>(operation).isDisjoint()) return sum(a, b, 1, true, true);
            return LaneShape::varying();
        case Instruction::Mul:
            if (auto factor = constant_of(operation.getOperand(1)))
                return scaled(a, *factor, nsw, nuw);
            return LaneShape::varying();
        case Instruction::Shl:
            if (auto by = constant_of(operation.getOperand(1)); by && *by >= 0 && *by < 62)
                return scaled(a, int64_t{1} << *by, nsw, nuw);
            return LaneShape::varying();
        case Instruction::LShr:
        case Instruction::AShr: {
            auto by = constant_of(operation.getOperand(1));
            bool whole = by && *by >= 0 && *by < 32 && uint64_t{1} << *by >= vector_.lanes;
            return whole && is_aligned_row(a) ? LaneShape::uniform() : LaneShape::varying();
        }
        case Instruction::And: {
            auto mask = constant_of(operation.getOperand(1));
            if (!mask || !is_aligned_row(a)) return LaneShape::varying();
            uint64_t low = uint64_t(*mask) & (vector_.lanes - 1);
            if (low == 0) return LaneShape::uniform();
            return low == vector_.lanes - 1 ? LaneShape::affine(1, true, true)
                                            : LaneShape::varying();
        }
        default:
            return LaneShape::varying();
    }
}

LaneShape LanePlan::shape_of_cast(const CastInst& cast) const {
    LaneShape from = shape(cast.getOperand(0));
    if (!from.is_affine()) return LaneShape::varying();
    switch (cast.getOpcode()) {
        case Instruction::SExt:
            return from.exact_signed ? LaneShape::affine(from.stride, true, false)
                                     : LaneShape::varying();
        case Instruction::ZExt: {
            bool exact = from.exact_unsigned || (from.exact_signed && cast.hasNonNeg());
            return exact ? LaneShape::affine(from.stride, true, true) : LaneShape::varying();
        }
        case Instruction::Trunc:
            return LaneShape::affine(from.stride, false, false);
        case Instruction::PtrToInt:
        case Instruction::IntToPtr:
            return cast.getSrcTy()->getScalarSizeInBits() == 64 ||
                           cast.getDestTy()->getScalarSizeInBits() == 64
                       ? LaneShape::affine(from.stride, false, false)
                       : LaneShape::varying();
        case Instruction::AddrSpaceCast:
        case Instruction::BitCast:
            return cast.getDestTy()->isPointerTy() ? from : LaneShape::varying();
        default:
            return LaneShape::varying();
    }
}

LaneShape LanePlan::shape_of_address(const GetElementPtrInst& address) const {
    const DataLayout& data = function_.getParent()->getDataLayout();
    LaneShape result = shape(address.getPointerOperand());
    if (!result.has_base()) return LaneShape::varying();
    for (auto type = gep_type_begin(address); type != gep_type_end(address); ++type) {
        const Value* index = type.getOperand();
        LaneShape step = shape(index);
        if (step.is_uniform()) continue;
        // Narrow indices are sign extended.
        if (!step.is_affine() || type.isStruct() ||
            (index->getType()->getIntegerBitWidth() < 64 && !step.exact_signed))
            return LaneShape::varying();
        auto size = int64_t(type.getSequentialElementStride(data).getFixedValue());
        result = sum(result, scaled(step, size, false, false), 1, false, false);
        if (!result.has_base()) return result;
    }
    return result;
}

LaneShape LanePlan::shape_of_phi(const PHINode& phi) const {
    LaneShape result;
    const Value* only = nullptr;
    bool same = true;
    for (const Value* value : phi.incoming_values()) {
        if (isa<UndefValue>(value)) continue;
        if (only != nullptr && only != value) same = false;
        only = value;
        result = join(result, shape(value));
    }
    if (only == nullptr) return LaneShape::uniform();
    if (result.is_unknown() || result.is_varying()) return result;
    if (is_temporal(phi)) {
        // What is not computed in the loop is the same in all its rounds.
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
            auto* instruction = dyn_cast<Instruction>(phi.getIncomingValue(i));
            const Loop* loop = loops_.getLoopFor(phi.getIncomingBlock(i));
            while (loop != nullptr && loop->getParentLoop() != nullptr &&
                   !loop->getParentLoop()->contains(phi.getParent()))
                loop = loop->getParentLoop();
            if (instruction != nullptr && loop != nullptr && loop->contains(instruction))
                return LaneShape::varying();
        }
    }
    if (!same && is_divergent_join(phi.getParent())) return LaneShape::varying();
    return result;
}

// All lanes read the same one, which is there.
LaneShape LanePlan::shape_of_shuffle(const CallBase& call) const {
    SuspendForm form = *suspend_of(*call.getCalledFunction());
    const Value* from = call.getArgOperand(unsigned(form.operand[0]));
    auto clamp = constant_of(call.getArgOperand(unsigned(form.operand[1])));
    auto first = constant_of(from);
    bool there = vector_.full || (first && *first == 0);
    bool fine = there && clamp && *clamp == 31 && form.result != SuspendForm::Result::None &&
                form.result != SuspendForm::Result::ValueAndPredicate && shape(from).is_uniform() &&
                shape(call.getArgOperand(unsigned(form.mask))).is_uniform() &&
                runs_all(call.getParent());
    return fine ? LaneShape::uniform() : LaneShape::varying();
}

LaneShape LanePlan::shape_of_call(const CallBase& call) const {
    const Function* callee = call.getCalledFunction();
    if (callee == nullptr) return LaneShape::varying();
    if (callee->isIntrinsic() && callee->doesNotAccessMemory() && all_uniform(call, *this))
        return LaneShape::uniform();
    if (auto form = suspend_of(*callee)) {
        if (is_warp_operation(*form) && vector_.lanes != kWarp) return LaneShape::varying();
        switch (form->kind) {
            case Suspend::BarrierCount:
            case Suspend::BarrierAnd:
            case Suspend::BarrierOr:
                return LaneShape::uniform();
            case Suspend::ActiveMask:
                return LaneShape::uniform();
            case Suspend::VoteAll:
            case Suspend::VoteAny:
            case Suspend::VoteUniform:
            case Suspend::Ballot:
            case Suspend::ReduceAdd:
            case Suspend::ReduceMin:
            case Suspend::ReduceMax:
            case Suspend::ReduceUMin:
            case Suspend::ReduceUMax:
            case Suspend::ReduceAnd:
            case Suspend::ReduceOr:
            case Suspend::ReduceXor:
                return shape(call.getArgOperand(unsigned(form->mask))).is_uniform()
                           ? LaneShape::uniform()
                           : LaneShape::varying();
            case Suspend::ShuffleIndex:
                return shape_of_shuffle(call);
            default:
                return LaneShape::varying();
        }
    }
    // Functions of the runtime that only tell about the block, and pure functions.
    if (call.doesNotAccessMemory() && all_uniform(call, *this)) return LaneShape::uniform();
    return LaneShape::varying();
}

LaneShape LanePlan::shape_of(const Instruction& instruction) const {
    if (auto* phi = dyn_cast<PHINode>(&instruction)) return shape_of_phi(*phi);
    if (auto* array = dyn_cast<AllocaInst>(&instruction)) {
        auto size = array->getAllocationSize(function_.getParent()->getDataLayout());
        if (!size) return LaneShape::varying();
        return LaneShape::affine(int64_t(alignTo(size->getFixedValue(), array->getAlign())), false,
                                 false);
    }
    if (any_unknown(instruction, *this)) return {};
    if (auto* load = dyn_cast<LoadInst>(&instruction))
        return load->isSimple() && shape(load->getPointerOperand()).is_uniform()
                   ? LaneShape::uniform()
                   : LaneShape::varying();
    if (auto* call = dyn_cast<CallBase>(&instruction)) return shape_of_call(*call);
    if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return LaneShape::varying();
    if (all_uniform(instruction, *this)) return LaneShape::uniform();
    if (auto* address = dyn_cast<GetElementPtrInst>(&instruction))
        return shape_of_address(*address);
    if (auto* cast = dyn_cast<CastInst>(&instruction)) return shape_of_cast(*cast);
    if (auto* compare = dyn_cast<ICmpInst>(&instruction)) return shape_of_compare(*compare);
    if (auto* operation = dyn_cast<BinaryOperator>(&instruction))
        return shape_of_binary(*operation);
    if (auto* choice = dyn_cast<SelectInst>(&instruction))
        if (shape(choice->getCondition()).is_uniform())
            return join(shape(choice->getTrueValue()), shape(choice->getFalseValue()));
    if (isa<FreezeInst>(instruction)) {
        LaneShape from = shape(instruction.getOperand(0));
        return from.is_affine() ? LaneShape::affine(from.stride, false, false) : from;
    }
    return LaneShape::varying();
}

}  // namespace trilane::cpu
