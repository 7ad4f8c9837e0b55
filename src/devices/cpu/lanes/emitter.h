// Writes the function of W lanes by the plan. One object per function written; its parts: flow.cpp
// (blocks, masks), values.cpp (operands, arithmetic), memory.cpp, guess.cpp,
// turned.cpp, calls.cpp.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <functional>

#include "devices/cpu/lanes/plan.h"
#include "devices/cpu/lanes/shortcut.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

// What the emitter cannot put into lanes; the caller keeps one thread at a time.
struct NotInLanes {
    std::string why;
};

class LaneEmitter {
  public:
    // `vector` has the scalar function's arguments, and after them, unless `full`, the number of
    // active lanes. Throws NotInLanes.
    LaneEmitter(llvm::Function& scalar, const LanePlan& plan, llvm::Function& vector,
                unsigned lanes, bool full);
    // Vectors whose lanes all pass the guard run `all`, which has this function's arguments.
    void set_shortcut(const Guard& guard, llvm::Function& all);
    void run();

  private:
    struct Block {
        llvm::BasicBlock* test = nullptr;  // are there lanes at all? nullptr: not asked
        llvm::BasicBlock* body = nullptr;
        llvm::AllocaInst* pending = nullptr;  // lanes that wait to run the block
        llvm::AllocaInst* active = nullptr;   // lanes that run it
    };

    // flow.cpp
    void make_blocks();
    void emit_block(llvm::BasicBlock& block);
    void emit_head(llvm::BasicBlock& block);
    void emit_end(llvm::BasicBlock& block);
    void emit_parting(llvm::BasicBlock& block, llvm::BranchInst& branch);
    void emit_shortcut(llvm::Value* passing);
    void emit_edge(llvm::BasicBlock& from, llvm::BasicBlock& to);
    void put_down(llvm::BasicBlock& to, llvm::Value* lanes);
    void jump_to_next(llvm::BasicBlock& from, llvm::ArrayRef<llvm::BasicBlock*> targets);
    void emit_skip(llvm::BasicBlock& block);
    using Moves = llvm::SmallVector<std::pair<llvm::AllocaInst*, llvm::Value*>, 8>;
    void collect_phi_values(llvm::BasicBlock& from, llvm::BasicBlock& to, llvm::Value* lanes,
                            Moves& moves);
    void store_phi_values(const Moves& moves);
    llvm::Value* any(llvm::Value* mask);
    llvm::Value* both(llvm::Value* mask, llvm::Value* condition);  // lanes off stay off

    // values.cpp
    void emit(llvm::Instruction& instruction);
    void emit_scalar(llvm::Instruction& instruction);
    llvm::Value* exact_in_lane_0(const llvm::Instruction& original, llvm::Instruction& copy);
    void emit_vector(llvm::Instruction& instruction);
    llvm::Value* divide(llvm::BinaryOperator& operation);
    llvm::Value* scalar(llvm::Value* value);  // of lane 0
    llvm::Value* vector(llvm::Value* value);  // of all lanes
    void define(llvm::Instruction& instruction, llvm::Value* value);
    llvm::Type* widened(llvm::Type* type) const;
    llvm::Value* splat(llvm::Value* value);
    llvm::Value* blended(llvm::Value* lanes, llvm::Value* on, llvm::Value* off);
    llvm::Value* spread(llvm::Value* base, llvm::Type* type, int64_t stride);
    llvm::Value* load_slot(const llvm::Instruction& instruction);
    llvm::AllocaInst* slot(const llvm::Instruction& instruction);
    llvm::AllocaInst* entry_alloca(llvm::Type* type, const llvm::Twine& name);
    [[noreturn]] void refuse(const llvm::Instruction& instruction, const char* why) const;

    // memory.cpp
    void emit_load(llvm::LoadInst& load);
    void emit_store(llvm::StoreInst& store);
    void emit_array(llvm::AllocaInst& array);
    void emit_atomic(llvm::Instruction& instruction);
    bool emit_joint_atomic(llvm::AtomicRMWInst& update);
    bool emit_row_of_atomics(llvm::AtomicRMWInst& update);
    llvm::Value* of_lane(llvm::Value* value, unsigned lane);
    llvm::Value* last_active(llvm::Value* lanes, llvm::Value* mask);
    llvm::Value* reversed(llvm::Value* value);

    // The address of lane 0 of an access whose lanes most likely lie side by side, and the
    // condition under which they do.
    struct Guess {
        llvm::Value* base = nullptr;
        int64_t stride = 0;
        llvm::Value* condition = nullptr;  // nullptr: always
    };
    std::optional<Guess> guess(llvm::Value* value);
    std::optional<Guess> guess_extension(llvm::CastInst& extension);
    std::optional<Guess> guess_sum(llvm::Instruction& sum);
    std::optional<Guess> guess_address(llvm::GetElementPtrInst& address);
    llvm::Value* joint(llvm::Value* a, llvm::Value* b);
    // Runs `likely` under the condition, else `otherwise`; joins what they give.
    llvm::Value* either(llvm::Value* condition, const std::function<llvm::Value*()>& likely,
                        const std::function<llvm::Value*()>& otherwise);
    llvm::Value* load_row(llvm::LoadInst& load, llvm::Value* base, int64_t stride);
    void store_row(llvm::StoreInst& store, llvm::Value* base, int64_t stride);

    // turned.cpp
    // Lane l reaches element l ^ turn of the W elements from `base` on.
    struct TurnedRow {
        llvm::Value* base = nullptr;
        llvm::Value* turn = nullptr;       // i32, less than W
        llvm::Value* condition = nullptr;  // nullptr: always
    };
    std::optional<TurnedRow> turned_row(llvm::Value* pointer, int64_t size);
    llvm::Value* turned(llvm::Value* value, llvm::Value* turn);
    llvm::Value* turned_mask(llvm::Value* mask, llvm::Value* turn);
    llvm::Value* load_turned(llvm::LoadInst& load, const TurnedRow& row);
    void store_turned(llvm::StoreInst& store, const TurnedRow& row);

    // calls.cpp
    void emit_call(llvm::CallBase& call);
    void emit_intrinsic(llvm::IntrinsicInst& call);
    void emit_prefetch(llvm::IntrinsicInst& call);
    static bool is_floating_or_integer(llvm::Type* type);
    void emit_by_lane(llvm::Instruction& instruction);
    // Runs `step` for each active lane in order, with the lane's number and the lane's operands.
    llvm::Value* for_each_lane(
        llvm::ArrayRef<llvm::Value*> operands, llvm::Type* result,
        const std::function<llvm::Value*(llvm::Value*, llvm::ArrayRef<llvm::Value*>)>& step);

    // warp.cpp
    void emit_warp_operation(llvm::CallBase& call, const SuspendForm& form);
    void check_waiting(llvm::CallBase& call, const SuspendForm& form);
    llvm::Value* vote(llvm::CallBase& call, const SuspendForm& form);
    llvm::Value* reduce(llvm::CallBase& call, const SuspendForm& form);
    llvm::Value* shuffle(llvm::CallBase& call, const SuspendForm& form);
    llvm::Value* pick(llvm::Value* lanes, llvm::Value* source);
    llvm::Value* exchange(llvm::CallBase& call, const SuspendForm& form);

    llvm::Value* bits(llvm::Value* mask);  // as an integer of W bits

    llvm::Function& scalar_function_;
    const LanePlan& plan_;
    llvm::Function& vector_function_;
    unsigned lanes_;
    bool full_;
    std::optional<Guard> guard_;
    llvm::Function* shortcut_ = nullptr;  // for lanes that all pass the guard
    llvm::LLVMContext& context_;
    const llvm::DataLayout& data_;
    llvm::IRBuilder<> builder_;
    llvm::BasicBlock* prologue_ = nullptr;
    llvm::Value* entry_mask_ = nullptr;
    llvm::Value* mask_ = nullptr;  // of the block being written
    llvm::BasicBlock* current_ = nullptr;
    llvm::DenseMap<const llvm::BasicBlock*, Block> blocks_;
    llvm::DenseMap<const llvm::Instruction*, llvm::AllocaInst*> slots_;
    llvm::DenseMap<const llvm::Value*, llvm::Value*> scalars_, vectors_;  // of the block
    std::vector<llvm::AllocaInst*> registers_;                            // become SSA at the end
    llvm::Value* thread_place_ = nullptr;  // where the runtime reads the running thread
    llvm::AllocaInst* thread_base_ = nullptr;
};

}  // namespace trilane::cpu
