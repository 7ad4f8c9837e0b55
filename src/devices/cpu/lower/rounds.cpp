// Strided loops in rounds.
//
// A thread that alone runs `for (i = first; i < n; i += grid) sum += x[i];` to its end touches one
// line of memory per round, and by the time its neighbours come for the rest of the line it is
// gone. The loop becomes
//
//     alive = first < n;
//     while (__syncthreads_or(alive)) {
//         if (alive) { sum += x[first + done]; alive = first + done + grid < n; }
//         done += grid;
//     }
//
// and is then cut at this barrier like at any other. What that needs, and why it is harmless:
// - All threads of the block come to the loop together, so all come to the barrier in each round:
//   whoever is through with the loop stays in it, with alive = false, until nobody is alive. This
//   is asked of the loop's entry here, and proved once more where the function is cut.
// - A barrier only takes orders away in which threads may run. It can hold up nobody for ever:
//   loops that wait for memory are not cut at all, and barriers and warp operations within the loop
//   (for which those who wait outside might be missed) keep it as it is.
// - What leaves the loop keeps what it left with, and by which way: the others' rounds change
//   neither.
#include "devices/cpu/lower/rounds.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <list>

#include "devices/cpu/lanes/plan.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// A value of the header that changes from round to round.
struct Carried {
    PHINode *old = nullptr, *here = nullptr, *next = nullptr;
    Value *first = nullptr, *last = nullptr;  // as the loop had them
    SmallDenseMap<BasicBlock*, Value*> out;   // what who leaves by an edge keeps
};

class RoundLoop {
  public:
    RoundLoop(Loop& loop, const LanePlan& plan)
        : plan_(plan),
          header_(loop.getHeader()),
          entry_(loop.getLoopPreheader()),
          latch_(loop.getLoopLatch()),
          function_(*header_->getParent()),
          context_(function_.getContext()),
          builder_(context_) {
        for (BasicBlock* block : loop.blocks()) blocks_.insert(block);
        SmallVector<Loop::Edge, 4> edges;
        loop.getExitEdges(edges);
        for (auto& [from, to] : edges) edges_.push_back({from, to, nullptr});
        for (Edge& edge : edges_)
            if (!is_contained(exits_, edge.to)) exits_.push_back(edge.to);
    }

    void run() {
        make_blocks();
        const bool ahead = tests_ahead();
        find_carried(ahead);
        keep_results();
        if (ahead) {
            test_ahead();
        } else {
            alive_->addIncoming(builder_.getTrue(), entry_);
            still_->addIncoming(builder_.getTrue(), latch_);
        }
        connect(ahead);
        finish_carried();
    }

  private:
    struct Edge {
        BasicBlock *from, *to, *way;  // `way`: the new block between
    };

    BasicBlock* block(const char* name, BasicBlock* before) {
        return BasicBlock::Create(context_, name, &function_, before);
    }
    bool is_inside(const Value* value) const {
        auto* instruction = dyn_cast<Instruction>(value);
        return instruction != nullptr && blocks_.contains(instruction->getParent());
    }

    void make_blocks() {
        round_ = block("round", header_);
        turn_ = block("turn", header_);
        join_ = block("join", latch_->getNextNode());
        leave_ = block("leave", join_->getNextNode());
        builder_.SetInsertPoint(round_);
        alive_ = builder_.CreatePHI(builder_.getInt1Ty(), 2, "alive");
        builder_.SetInsertPoint(join_);
        still_ = builder_.CreatePHI(builder_.getInt1Ty(), 4, "still");
    }

    // The header does nothing but ask whether there is another round: asked at the end of the round
    // before, nobody takes part in a round only to be told no.
    bool tests_ahead() const {
        auto* branch = dyn_cast<BranchInst>(header_->getTerminator());
        if (branch == nullptr || !branch->isConditional() || edges_.size() != 1 ||
            edges_.front().from != header_ || latch_ == header_)
            return false;
        for (Instruction& instruction : *header_)
            if (!isa<PHINode>(instruction) && !instruction.isTerminator() &&
                (instruction.mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(&instruction)))
                return false;
        for (PHINode& result : edges_.front().to->phis()) {
            Value* value = result.getIncomingValueForBlock(header_);
            if (is_inside(value) &&
                !(isa<PHINode>(value) && cast<PHINode>(value)->getParent() == header_))
                return false;
        }
        return true;
    }

    // p += step, the same step in all threads: first + done, and `done` is the same for all.
    Value* step_of(PHINode& phi) const {
        Value* step = nullptr;
        bool counts =
            phi.getType()->isIntegerTy() &&
            match(phi.getIncomingValueForBlock(latch_), m_c_Add(m_Specific(&phi), m_Value(step))) &&
            !is_inside(step) && plan_.shape(step).is_uniform();
        return counts ? step : nullptr;
    }

    bool is_result(const PHINode& phi) const {
        return any_of(exits_, [&](BasicBlock* exit) {
            return any_of(exit->phis(), [&](PHINode& result) {
                return is_contained(result.incoming_values(), &phi);
            });
        });
    }

    void find_carried(bool ahead) {
        for (PHINode& phi : header_->phis()) {
            Value* step = ahead && is_result(phi) ? nullptr : step_of(phi);
            if (step != nullptr) {
                steps_.push_back({&phi, step});
                continue;
            }
            Carried carried;
            carried.old = &phi;
            carried.first = phi.getIncomingValueForBlock(entry_);
            carried.last = phi.getIncomingValueForBlock(latch_);
            make_phis(carried, phi.getType(), phi.getName());
            carried_.push_back(std::move(carried));
        }
    }

    void make_phis(Carried& carried, Type* type, const Twine& name) {
        builder_.SetInsertPoint(round_, round_->begin());
        carried.here = builder_.CreatePHI(type, 2, name);
        builder_.SetInsertPoint(join_, join_->begin());
        carried.next = builder_.CreatePHI(type, 4, name + ".next");
    }

    // What is asked for after the loop: a carried value where it is always one, else one more.
    void keep_results() {
        for (BasicBlock* exit : exits_)
            for (PHINode& result : exit->phis()) {
                Value* given = result.hasConstantValue();
                if (given != nullptr && !is_inside(given)) {
                    results_.push_back({&result, given});
                    continue;
                }
                Carried* keeper = keeper_of(result);
                if (keeper == nullptr) {
                    carried_.push_back({});
                    keeper = &carried_.back();
                    keeper->first = Constant::getNullValue(result.getType());
                    make_phis(*keeper, result.getType(), result.getName());
                }
                for (Edge& edge : edges_)
                    if (edge.to == exit)
                        keeper->out[edge.from] = result.getIncomingValueForBlock(edge.from);
                results_.push_back({&result, keeper->here});
            }
    }

    Carried* keeper_of(PHINode& result) {
        for (Carried& carried : carried_) {
            if (carried.old == nullptr || carried.old->getType() != result.getType()) continue;
            const bool fits = all_of(edges_, [&](Edge& edge) {
                if (edge.to != result.getParent()) return true;
                Value* value = result.getIncomingValueForBlock(edge.from);
                auto known = carried.out.find(edge.from);
                if (known != carried.out.end()) return known->second == value;
                return value == carried.old || value == carried.last;
            });
            if (fits) return &carried;
        }
        return nullptr;
    }

    // The header's condition as it will be when its phis have the values that come from `from`.
    Value* condition_from(BasicBlock* from) {
        ValueToValueMapTy map;
        for (PHINode& phi : header_->phis()) map[&phi] = phi.getIncomingValueForBlock(from);
        for (Instruction& instruction : *header_) {
            if (isa<PHINode>(instruction) || instruction.isTerminator()) continue;
            Instruction* copy = instruction.clone();
            copy->insertBefore(from->getTerminator()->getIterator());
            RemapInstruction(copy, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
            map[&instruction] = copy;
        }
        auto* branch = cast<BranchInst>(header_->getTerminator());
        Value* condition = branch->getCondition();
        if (auto found = map.find(condition); found != map.end()) condition = found->second;
        if (!blocks_.contains(branch->getSuccessor(0))) {
            builder_.SetInsertPoint(from->getTerminator());
            condition = builder_.CreateNot(condition);
        }
        return condition;
    }

    void test_ahead() {
        alive_->addIncoming(condition_from(entry_), entry_);
        still_->addIncoming(condition_from(latch_), latch_);
        auto* branch = cast<BranchInst>(header_->getTerminator());
        BasicBlock* body = branch->getSuccessor(blocks_.contains(branch->getSuccessor(0)) ? 0 : 1);
        BranchInst::Create(body, branch->getIterator());
        branch->eraseFromParent();
    }

    void connect(bool ahead) {
        entry_->getTerminator()->replaceSuccessorWith(header_, round_);
        latch_->getTerminator()->replaceSuccessorWith(header_, join_);
        if (!ahead) {
            for (Edge& edge : edges_) {
                edge.way = block("way", join_);
                edge.from->getTerminator()->replaceSuccessorWith(edge.to, edge.way);
                BranchInst::Create(join_, edge.way);
                still_->addIncoming(builder_.getFalse(), edge.way);
            }
        }
        builder_.SetInsertPoint(round_);
        Function* barrier =
            Intrinsic::getDeclaration(function_.getParent(), Intrinsic::nvvm_barrier0_or);
        Value* alive = builder_.CreateZExt(alive_, builder_.getInt32Ty());
        Value* any = builder_.CreateICmpNE(builder_.CreateCall(barrier, {alive}),
                                           builder_.getInt32(0), "any");
        builder_.CreateCondBr(any, turn_, leave_);
        builder_.SetInsertPoint(turn_);
        builder_.CreateCondBr(alive_, header_, join_);
        still_->addIncoming(builder_.getFalse(), turn_);
        alive_->addIncoming(still_, join_);
        builder_.SetInsertPoint(join_);
        builder_.CreateBr(round_);
        choose_exit();
    }

    void choose_exit() {
        builder_.SetInsertPoint(leave_);
        if (exits_.size() == 1) {
            builder_.CreateBr(exits_.front());
            return;
        }
        Carried way;
        way.first = builder_.getInt32(0);
        for (Edge& edge : edges_)
            way.out[edge.from] = builder_.getInt32(uint32_t(
                std::distance(exits_.begin(), std::find(exits_.begin(), exits_.end(), edge.to))));
        make_phis(way, builder_.getInt32Ty(), "exit");
        builder_.SetInsertPoint(leave_);
        for (size_t i = 0; i + 1 < exits_.size(); ++i) {
            BasicBlock* next = i + 2 < exits_.size() ? block("leave", join_) : exits_.back();
            builder_.CreateCondBr(builder_.CreateICmpEQ(way.here, builder_.getInt32(uint32_t(i))),
                                  exits_[i], next);
            builder_.SetInsertPoint(next);
        }
        carried_.push_back(std::move(way));
    }

    void finish_carried() {
        for (Carried& carried : carried_) {
            carried.here->addIncoming(carried.first, entry_);
            carried.here->addIncoming(carried.next, join_);
            carried.next->addIncoming(carried.old != nullptr ? carried.last : carried.here, latch_);
            carried.next->addIncoming(carried.here, turn_);
            for (Edge& edge : edges_) {
                if (edge.way == nullptr) continue;
                auto found = carried.out.find(edge.from);
                carried.next->addIncoming(found != carried.out.end() ? found->second : carried.here,
                                          edge.way);
            }
        }
        for (auto& [result, keeper] : results_) {
            result->replaceAllUsesWith(keeper);
            result->eraseFromParent();
        }
        for (Carried& carried : carried_) {
            if (carried.old == nullptr) continue;
            carried.old->replaceAllUsesWith(carried.here);
            carried.old->eraseFromParent();
        }
        for (auto& [phi, step] : steps_) count(*phi, step);
    }

    void count(PHINode& phi, Value* step) {
        Value* first = phi.getIncomingValueForBlock(entry_);
        builder_.SetInsertPoint(round_, round_->begin());
        PHINode* done = builder_.CreatePHI(phi.getType(), 2, "done");
        builder_.SetInsertPoint(join_->getTerminator());
        Value* next = builder_.CreateAdd(done, step);
        done->addIncoming(Constant::getNullValue(phi.getType()), entry_);
        done->addIncoming(next, join_);
        builder_.SetInsertPoint(header_, header_->getFirstInsertionPt());
        Value* here = builder_.CreateAdd(first, done, phi.getName());
        phi.replaceAllUsesWith(here);
        phi.eraseFromParent();
        fetch_ahead(*here, step);
    }

    // Rounds lie a grid apart: what the processor fetches by itself is behind the block's part, so
    // it is told what the next round reads.
    void fetch_ahead(Value& here, Value* step) {
        SmallVector<Value*, 4> forms{&here};
        for (User* user : here.users())
            if (isa<ZExtInst, SExtInst>(user)) forms.push_back(user);
        SmallVector<GetElementPtrInst*, 8> places;
        for (Value* form : forms)
            for (User* user : form->users())
                if (auto* place = dyn_cast<GetElementPtrInst>(user);
                    place != nullptr && is_inside(place) && place->getNumIndices() == 1 &&
                    !is_inside(place->getPointerOperand()) && is_loaded(*place))
                    places.push_back(place);
        for (GetElementPtrInst* place : places) {
            builder_.SetInsertPoint(place);
            Value* next = builder_.CreateAdd(&here, step);
            if (auto* form = dyn_cast<CastInst>(place->getOperand(1)))
                next = builder_.CreateCast(form->getOpcode(), next, form->getType());
            builder_.CreateIntrinsic(
                Intrinsic::prefetch, {builder_.getPtrTy()},
                {builder_.CreateGEP(place->getSourceElementType(), place->getPointerOperand(),
                                    next),
                 builder_.getInt32(0), builder_.getInt32(3), builder_.getInt32(1)});
        }
    }

    static bool is_loaded(const GetElementPtrInst& place) {
        return any_of(place.users(), [](const User* user) { return isa<LoadInst>(user); });
    }

    const LanePlan& plan_;
    BasicBlock *header_, *entry_, *latch_;
    Function& function_;
    LLVMContext& context_;
    IRBuilder<> builder_;
    SmallPtrSet<BasicBlock*, 16> blocks_;
    SmallVector<Edge, 4> edges_;
    SmallVector<BasicBlock*, 4> exits_;
    // Before a round; the alive; behind those who take part in it; when nobody is left.
    BasicBlock *round_ = nullptr, *turn_ = nullptr, *join_ = nullptr, *leave_ = nullptr;
    PHINode *alive_ = nullptr, *still_ = nullptr;
    std::list<Carried> carried_;
    std::vector<std::pair<PHINode*, Value*>> steps_, results_;
};

// Whoever waits for others within the loop is not to wait for those who are through with it.
bool has_suspension(const Loop& loop) {
    for (BasicBlock* block : loop.blocks())
        for (Instruction& instruction : *block)
            if (auto* call = dyn_cast<CallBase>(&instruction);
                call != nullptr && classify_call(*call) == CallClass::Suspend)
                return true;
    return false;
}

// Edges that can be led elsewhere.
bool has_plain_edges(const Loop& loop) {
    SmallVector<Loop::Edge, 4> edges;
    loop.getExitEdges(edges);
    return loop.isLoopSimplifyForm() && !edges.empty() && all_of(edges, [](const Loop::Edge& edge) {
               return isa<BranchInst>(edge.first->getTerminator());
           });
}

}  // namespace

unsigned put_in_rounds(RegionThread& thread, Optimizer& optimizer) {
    Function& function = *thread.function;
    auto loops = optimizer.functions().getResult<LoopAnalysis>(function).getLoopsInPreorder();
    if (none_of(loops, [](Loop* loop) { return strides_by_grid(*loop); })) return 0;
    optimizer.hoist(function);
    prepare_for_lanes(function, optimizer);
    if (is_irreducible(function)) return 0;
    LaneVector threads;
    threads.varying = {function.getArg(RegionThread::kY), function.getArg(RegionThread::kZ)};
    LanePlan plan(function, *function.getArg(RegionThread::kX), threads);
    SmallVector<const BasicBlock*, 16> places;
    for (Instruction& instruction : instructions(function))
        if (auto* call = dyn_cast<CallBase>(&instruction);
            call != nullptr && classify_call(*call) == CallClass::Suspend &&
            !is_warp_operation(*suspend_of(*call->getCalledFunction())))
            places.push_back(instruction.getParent());
    std::vector<Loop*> chosen;
    const auto known = plan.loops().getLoopsInPreorder();
    // Inner loops first: around one of them there are none.
    for (Loop* loop : reverse(known)) {
        if (!strides_by_grid(*loop) || has_suspension(*loop) || !has_plain_edges(*loop) ||
            any_of(chosen, [&](Loop* inner) { return loop->contains(inner); }))
            continue;
        places.push_back(loop->getLoopPreheader());
        const Meeting meeting = plan.meeting_at(places);
        if (meeting == Meeting::OfAll || (meeting == Meeting::OfThoseThatStay && !thread.has_warps))
            chosen.push_back(loop);
        else
            places.pop_back();
    }
    for (Loop* loop : chosen) RoundLoop(*loop, plan).run();
    optimizer.forget(function);
    return unsigned(chosen.size());
}

}  // namespace trilane::cpu
