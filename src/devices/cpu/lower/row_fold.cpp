// What a kernel does with its index along x.
#include "devices/cpu/lower/row_fold.h"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>

namespace trilane::cpu {

using namespace llvm;

namespace {

const Value* strip_extensions(const Value* value) {
    while (isa<ZExtInst, SExtInst>(value)) value = cast<CastInst>(value)->getOperand(0);
    return value;
}

// `accepted` holds for every user, extensions followed.
bool all_users(const Value& value, function_ref<bool(const Instruction&)> accepted) {
    for (const User* user : value.users()) {
        const auto* instruction = cast<Instruction>(user);
        if (isa<ZExtInst, SExtInst>(instruction) ? !all_users(*instruction, accepted)
                                                 : !accepted(*instruction))
            return false;
    }
    return true;
}

bool is_operation(const Instruction& instruction, unsigned opcode, const Value* a, const Value* b) {
    if (instruction.getOpcode() != opcode) return false;
    const Value* left = strip_extensions(instruction.getOperand(0));
    const Value* right = strip_extensions(instruction.getOperand(1));
    return (left == a && right == b) || (left == b && right == a);
}

// A call that may ask the runtime for the block, or prints in the order of blocks.
bool may_know_block(const Instruction& instruction) {
    const auto* call = dyn_cast<CallBase>(&instruction);
    return call != nullptr && !isa<IntrinsicInst>(call) && !call->doesNotAccessMemory();
}

// &base[i] with one index: i without extensions, else nullptr.
const Value* index_of(const Value* address) {
    const auto* element = dyn_cast<GetElementPtrInst>(address);
    return element != nullptr && element->getNumIndices() == 1
               ? strip_extensions(element->getOperand(1))
               : nullptr;
}

// &(&base[i])[j], elements of one type: as good as &base[i + j].
bool is_second_index(const Instruction& outer, const Value* inner) {
    const auto* first = dyn_cast<GetElementPtrInst>(inner);
    const auto* second = dyn_cast<GetElementPtrInst>(&outer);
    return first != nullptr && second != nullptr && second->getPointerOperand() == first &&
           first->getSourceElementType() == second->getSourceElementType();
}

class FoldCheck {
  public:
    FoldCheck(const BlockValues& values, const PHINode& x)
        : block_(values.block_idx[0]),
          size_(values.block_dim[0]),
          grid_(values.grid_dim[0]),
          x_(x) {}

    RowFold run() {
        const bool global = all_users(*block_, [&](const Instruction& user) {
            return is_start(&user) &&
                   all_users(user, [&](const Instruction& sum) { return meets(sum, true); });
        });
        const bool thread = all_users(
            x_, [&](const Instruction& user) { return counts(user) || meets(user, false); });
        if (!global || !thread || !size_only_in_products()) return RowFold::None;
        return uses_total_ ? RowFold::Even : RowFold::Any;
    }

  private:
    // blockIdx.x * blockDim.x
    bool is_start(const Value* value) const {
        const auto* product = dyn_cast<Instruction>(value);
        return product != nullptr && is_operation(*product, Instruction::Mul, block_, size_);
    }
    // The thread's index, or the block's start.
    bool is_other(const Value* value, bool of_start) const {
        return value != nullptr && (of_start ? value == &x_ : is_start(value));
    }

    // `user`, of the block's start or of the thread's index, is the sum of both.
    bool meets(const Instruction& user, bool of_start) const {
        if (user.getOpcode() == Instruction::Add)
            return is_other(strip_extensions(user.getOperand(0)), of_start) ||
                   is_other(strip_extensions(user.getOperand(1)), of_start);
        const Value* index = index_of(&user);
        if (index == nullptr || is_other(index, of_start)) return false;
        if (!is_other(index, !of_start)) return false;
        // The second of two steps, or the first with nothing but the second after it.
        const Value* base = user.getOperand(0);
        if (is_second_index(user, base) && is_other(index_of(base), of_start)) return true;
        return !user.use_empty() && all_of(user.users(), [&](const User* next) {
            return is_second_index(*cast<Instruction>(next), &user) &&
                   is_other(index_of(next), of_start);
        });
    }

    // ++x < blockDim.x
    bool counts(const Instruction& user) const { return is_contained(x_.incoming_values(), &user); }

    bool size_only_in_products() {
        auto is_total = [&](const Instruction& user) {
            return is_operation(user, Instruction::Mul, grid_, size_);
        };
        uses_total_ = !grid_->use_empty();
        return all_users(*grid_, is_total) && all_users(*size_, [&](const Instruction& user) {
                   if (is_total(user) || is_operation(user, Instruction::Mul, block_, size_))
                       return true;
                   const auto* compare = dyn_cast<ICmpInst>(&user);
                   const auto* next =
                       compare != nullptr ? dyn_cast<Instruction>(compare->getOperand(0)) : nullptr;
                   return next != nullptr && counts(*next);
               });
    }

    const Value *block_, *size_, *grid_;
    const PHINode& x_;
    bool uses_total_ = false;
};

}  // namespace

RowFold find_row_fold(const BlockValues& values, const PHINode& x) {
    if (!values.shared->use_empty()) return RowFold::None;
    for (const Instruction& instruction : instructions(*x.getFunction()))
        if (may_know_block(instruction)) return RowFold::None;
    const RowFold fold = FoldCheck(values, x).run();
    if (fold == RowFold::None) return fold;
    MDBuilder metadata(x.getContext());
    cast<LoadInst>(values.block_dim[0])
        ->setMetadata(LLVMContext::MD_range,
                      metadata.createRange(APInt(32, 1), APInt(32, uint64_t{1} << 31)));
    return fold;
}

}  // namespace trilane::cpu
