// The x loop of the loop shape, W threads at a time.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/CodeExtractor.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// do { body(x) } while (++x < limit)
struct CountedBody {
    BasicBlock *header = nullptr, *latch = nullptr, *preheader = nullptr, *exit = nullptr;
    PHINode* index = nullptr;
    Value* limit = nullptr;
    std::vector<BasicBlock*> blocks;  // header first
};

bool find_parts(Loop& loop, CountedBody& parts) {
    parts.header = loop.getHeader();
    parts.latch = loop.getLoopLatch();
    parts.preheader = loop.getLoopPreheader();
    if (parts.latch == nullptr || parts.preheader == nullptr) return false;
    auto* end = dyn_cast<BranchInst>(parts.latch->getTerminator());
    if (end == nullptr || !end->isConditional() || end->getSuccessor(0) != parts.header)
        return false;
    parts.exit = end->getSuccessor(1);
    if (loop.contains(parts.exit) || isa<PHINode>(parts.exit->front())) return false;
    auto phis = parts.header->phis();
    if (phis.empty() || std::next(phis.begin()) != phis.end()) return false;
    parts.index = &*phis.begin();
    Value* next = parts.index->getIncomingValueForBlock(parts.latch);
    if (!match(parts.index->getIncomingValueForBlock(parts.preheader), m_ZeroInt()) ||
        !match(next, m_Add(m_Specific(parts.index), m_One())) ||
        !parts.index->getType()->isIntegerTy(32))
        return false;
    ICmpInst::Predicate predicate;
    Value *a = nullptr, *b = nullptr;
    if (!match(end->getCondition(), m_ICmp(predicate, m_Value(a), m_Value(b)))) return false;
    if (b == next) {
        std::swap(a, b);
        predicate = ICmpInst::getSwappedPredicate(predicate);
    }
    if (a != next || predicate != ICmpInst::ICMP_ULT || !loop.isLoopInvariant(b)) return false;
    parts.limit = b;
    parts.blocks.assign(loop.blocks().begin(), loop.blocks().end());
    return true;
}

// Blocks that leave the loop for nowhere (a failed assertion) belong to the body.
bool add_dead_ends(CountedBody& parts) {
    SmallPtrSet<BasicBlock*, 16> known(parts.blocks.begin(), parts.blocks.end());
    SmallVector<BasicBlock*, 8> pending(parts.blocks.begin(), parts.blocks.end());
    while (!pending.empty()) {
        BasicBlock* block = pending.pop_back_val();
        for (BasicBlock* next : successors(block)) {
            if (next == parts.exit && block == parts.latch) continue;
            if (!known.insert(next).second) continue;
            if (next == parts.exit || isa<ReturnInst>(next->getTerminator())) return false;
            parts.blocks.push_back(next);
            pending.push_back(next);
        }
    }
    return true;
}

// Private arrays, and addresses in them that were computed before the loop, go into the body: each
// lane has its own. False if something else depends on one outside.
bool pull_arrays(Function& function, CountedBody& parts, BasicBlock& body) {
    SmallPtrSet<BasicBlock*, 16> inside(parts.blocks.begin(), parts.blocks.end());
    SmallPtrSet<Instruction*, 16> taken;
    std::vector<Instruction*> outside;
    for (BasicBlock& block : function) {
        if (inside.contains(&block)) continue;
        for (Instruction& instruction : block) {
            bool depends = isa<AllocaInst>(instruction);
            for (Value* operand : instruction.operands())
                if (auto* source = dyn_cast<Instruction>(operand))
                    depends |= taken.contains(source);
            if (!depends) continue;
            bool moves = isa<AllocaInst, GetElementPtrInst, CastInst>(instruction);
            if (!moves && !instruction.isLifetimeStartOrEnd()) return false;
            taken.insert(&instruction);
            outside.push_back(&instruction);
        }
    }
    auto place = body.getFirstInsertionPt();
    for (Instruction* instruction : outside) {
        if (instruction->isLifetimeStartOrEnd())
            instruction->eraseFromParent();
        else
            instruction->moveBefore(body, place);
    }
    return true;
}

// Cuts what counts off from the body: header (index only) -> body ... -> end (count, compare).
Function* extract_body(Function& function, CountedBody& parts, CallInst*& call) {
    BasicBlock* body =
        parts.header->splitBasicBlock(parts.header->getFirstNonPHI()->getIterator(), "body");
    std::replace(parts.blocks.begin(), parts.blocks.end(), parts.header, body);
    if (!pull_arrays(function, parts, *body)) return nullptr;
    BasicBlock* latch = parts.latch == parts.header ? body : parts.latch;
    BasicBlock* end = latch->splitBasicBlock(latch->getTerminator()->getIterator(), "end");
    IRBuilder<> builder(&end->front());
    auto* branch = cast<BranchInst>(end->getTerminator());
    Value* next = builder.CreateAdd(parts.index, builder.getInt32(1));
    branch->setCondition(builder.CreateICmpULT(next, parts.limit));
    parts.index->setIncomingValueForBlock(end, next);
    parts.latch = end;
    DominatorTree dominators(function);
    CodeExtractor extractor(parts.blocks, &dominators, /*AggregateArgs=*/false, /*BFI=*/nullptr,
                            /*BPI=*/nullptr, /*AC=*/nullptr, /*AllowVarArgs=*/false,
                            /*AllowAlloca=*/true);
    if (!extractor.isEligible()) return nullptr;
    CodeExtractorAnalysisCache cache(function);
    SetVector<Value*> inputs, outputs, sinks;
    extractor.findInputsOutputs(inputs, outputs, sinks);
    if (!outputs.empty()) return nullptr;
    Function* scalar = extractor.extractCodeRegion(cache);
    if (scalar == nullptr) return nullptr;
    std::vector<AllocaInst*> arrays;
    for (Instruction& instruction : instructions(*scalar))
        if (auto* array = dyn_cast<AllocaInst>(&instruction)) arrays.push_back(array);
    for (AllocaInst* array : arrays)
        array->moveBefore(scalar->getEntryBlock(), scalar->getEntryBlock().begin());
    call = nullptr;
    for (User* user : scalar->users())
        if (auto* found = dyn_cast<CallInst>(user)) call = found;
    return call != nullptr && scalar->getReturnType()->isVoidTy() ? scalar : nullptr;
}

void inline_call(CallInst& call) {
    InlineFunctionInfo info;
    InlineResult result = InlineFunction(call, info);
    TRILANE_CHECK(result.isSuccess(), "lanes: {}", result.getFailureReason());
}

// What the threads of a block run. Without `part` their number is a multiple of W.
struct Bodies {
    Function* full = nullptr;
    Function* part = nullptr;
    Function* alone = nullptr;  // one thread, for the few that are left; nullptr: part for them too
};

// Threads of one block that are faster one after the other than in W lanes that are mostly off.
unsigned few_of(unsigned lanes) { return std::max(1u, lanes / 8); }

// A thread alone, where it runs long enough for its lanes to matter: blocks of one thread are
// written for the sake of a loop. Whoever waits for others of its warp is never alone.
Function* body_alone(Function& scalar) {
    for (Instruction& instruction : instructions(scalar)) {
        auto* call = dyn_cast<CallBase>(&instruction);
        Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
        if (callee != nullptr && suspend_of(*callee)) return nullptr;
    }
    DominatorTree dominators(scalar);
    return LoopInfo(dominators).empty() ? nullptr : &scalar;
}

// for (x = 0; x + W <= limit; x += W) full(x);
// if (x < limit) part(x, limit - x);        or, of few, for (; x < limit; ++x) alone(x);
void build_vector_loop(Function& function, CountedBody& parts, CallInst& call, const Bodies& bodies,
                       unsigned lanes) {
    LLVMContext& context = function.getContext();
    auto block = [&](const char* name) {
        return BasicBlock::Create(context, name, &function, parts.exit);
    };
    BasicBlock *head = block("vectors"), *whole = block("vector"), *rest = block("rest");
    IRBuilder<> builder(head);
    PHINode* x = builder.CreatePHI(builder.getInt32Ty(), 2, "x");
    x->addIncoming(builder.getInt32(0), parts.preheader);
    // Unsigned: wide blocks come close to 2^31 threads, and this goes beyond by a vector.
    Value* next = builder.CreateAdd(x, builder.getInt32(lanes), "", true, false);
    builder.CreateCondBr(builder.CreateICmpULE(next, parts.limit), whole, rest);
    auto arguments = [&](Value* index) {
        SmallVector<Value*, 8> values;
        for (Value* argument : call.args())
            values.push_back(argument == parts.index ? index : argument);
        return values;
    };
    builder.SetInsertPoint(whole);
    CallInst* all = builder.CreateCall(bodies.full, arguments(x));
    builder.CreateBr(head);
    x->addIncoming(next, whole);
    builder.SetInsertPoint(rest);
    CallInst *last = nullptr, *one = nullptr;
    if (bodies.part != nullptr) {
        BasicBlock* tail = block("tail");
        builder.CreateCondBr(builder.CreateICmpULT(x, parts.limit), tail, parts.exit);
        builder.SetInsertPoint(tail);
        Value* left = builder.CreateSub(parts.limit, x);
        if (bodies.alone != nullptr) {
            BasicBlock *each = block("each"), *some = block("some");
            builder.CreateCondBr(builder.CreateICmpULE(left, builder.getInt32(few_of(lanes))), each,
                                 some);
            builder.SetInsertPoint(each);
            PHINode* y = builder.CreatePHI(builder.getInt32Ty(), 2, "y");
            y->addIncoming(x, tail);
            one = builder.CreateCall(bodies.alone, arguments(y));
            Value* after = builder.CreateAdd(y, builder.getInt32(1));
            y->addIncoming(after, each);
            builder.CreateCondBr(builder.CreateICmpULT(after, parts.limit), each, parts.exit);
            builder.SetInsertPoint(some);
        }
        SmallVector<Value*, 8> some = arguments(x);
        some.push_back(left);
        last = builder.CreateCall(bodies.part, some);
    }
    builder.CreateBr(parts.exit);
    parts.preheader->getTerminator()->replaceSuccessorWith(parts.header, head);
    call.eraseFromParent();
    inline_call(*all);
    if (last != nullptr) inline_call(*last);
    if (one != nullptr) inline_call(*one);
}

// Of an argument of the body, the power of two that divides it.
unsigned zeros_of(const Value* value, const DataLayout& data) {
    if (!value->getType()->isIntegerTy()) return 0;
    return std::min(computeKnownBits(value, data).countMinTrailingZeros(), 63u);
}

}  // namespace

bool vectorize_thread_loop(Function& function, Optimizer& optimizer, unsigned lanes) {
    FunctionPassManager passes;
    passes.addPass(LoopSimplifyPass());
    passes.run(function, optimizer.functions());
    Loop* loop = thread_loop(function, optimizer);
    CountedBody parts;
    if (loop == nullptr || !find_parts(*loop, parts) || !add_dead_ends(parts)) {
        if (core::env_flag("TRILANE_DUMP_LANES")) errs() << "no lanes: loop shape\n" << function;
        return false;
    }
    stripDebugInfo(function);
    CallInst* call = nullptr;
    Function* scalar = extract_body(function, parts, call);
    optimizer.forget(function);
    if (scalar == nullptr) return false;
    optimizer.optimize(*scalar);
    prepare_for_lanes(*scalar, optimizer);
    unsigned lane = 0;
    while (lane < call->arg_size() && call->getArgOperand(lane) != parts.index) ++lane;
    std::string why;
    Function *full = nullptr, *part = nullptr;
    const DataLayout& data = function.getParent()->getDataLayout();
    bool always_full = isPowerOf2_32(lanes) && zeros_of(parts.limit, data) >= Log2_32(lanes);
    bool done = false;
    if (lane < call->arg_size()) {
        LaneVector kind{lanes, true, {}, {}};
        for (Value* argument : call->args())
            kind.zeros.push_back(argument == parts.index
                                     ? (isPowerOf2_32(lanes) ? Log2_32(lanes) : 0)
                                     : zeros_of(argument, data));
        full = put_into_lanes(*scalar, lane, kind, "lanes.full", why);
        kind.full = false;
        if (full != nullptr && !always_full)
            part = put_into_lanes(*scalar, lane, kind, "lanes.part", why);
        done = full != nullptr && (always_full || part != nullptr);
    } else {
        why = "all threads do the same";
    }
    if (core::env_flag("TRILANE_DUMP_LANES")) {
        errs() << "in " << lanes << " lanes: " << (done ? "yes" : why) << "\n" << *scalar;
        if (done) errs() << *full;
    }
    if (done) {
        Function* alone = part != nullptr ? body_alone(*scalar) : nullptr;
        build_vector_loop(function, parts, *call, {full, part, alone}, lanes);
    } else {
        inline_call(*call);
    }
    for (Function* used : {full, part, scalar}) {
        if (used == nullptr) continue;
        optimizer.forget(*used);
        used->eraseFromParent();
    }
    removeUnreachableBlocks(function);
    optimizer.forget(function);
    return done;
}

}  // namespace trilane::cpu
