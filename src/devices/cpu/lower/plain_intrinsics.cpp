// nvvm intrinsics that never wait, as x86 instructions and calls of the runtime.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/ValueHandle.h>

#include "core/error.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/lower/registers.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

// atomicInc: old >= limit ? 0 : old + 1.  atomicDec: old == 0 || old > limit ? limit : old - 1.
Value* wrap_atomic(IRBuilder<>& builder, CallBase& call, bool increment) {
    return builder.CreateAtomicRMW(increment ? AtomicRMWInst::UIncWrap : AtomicRMWInst::UDecWrap,
                                   call.getArgOperand(0), call.getArgOperand(1), Align(4),
                                   AtomicOrdering::SequentiallyConsistent);
}

Value* runtime_call(IRBuilder<>& builder, StringRef symbol, Type* type,
                    ArrayRef<Value*> arguments) {
    SmallVector<Type*, 4> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    Module& module = *builder.GetInsertBlock()->getModule();
    return builder.CreateCall(
        module.getOrInsertFunction(symbol, FunctionType::get(type, types, false)), arguments);
}

Value* is_shared(IRBuilder<>& builder, Value* pointer) {
    return builder.CreateTrunc(
        runtime_call(builder, "__trl_rt_is_shared", builder.getInt32Ty(),
                     {builder.CreateAddrSpaceCast(pointer, builder.getPtrTy())}),
        builder.getInt1Ty());
}

// Returns false if the call is none of this file's. `result` may stay null for void calls.
bool lower_call(IRBuilder<>& builder, CallBase& call, StringRef name, Value*& result) {
    if (name.starts_with("llvm.nvvm.membar.") || name == "llvm.nvvm.fence.sc.cluster") {
        builder.CreateFence(AtomicOrdering::SequentiallyConsistent);
        return true;
    }
    if (name.starts_with("llvm.nvvm.atomic.load.inc.32")) {
        result = wrap_atomic(builder, call, true);
        return true;
    }
    if (name.starts_with("llvm.nvvm.atomic.load.dec.32")) {
        result = wrap_atomic(builder, call, false);
        return true;
    }
    if (name.starts_with("llvm.nvvm.ldg.global.")) {
        result = builder.CreateAlignedLoad(
            call.getType(), call.getArgOperand(0),
            Align(std::max<uint64_t>(1, cast<ConstantInt>(call.getArgOperand(1))->getZExtValue())));
        return true;
    }
    if (name == "llvm.nvvm.nanosleep") return true;
    if (name == "llvm.nvvm.isspacep.shared") {
        result = is_shared(builder, call.getArgOperand(0));
        return true;
    }
    if (name == "llvm.nvvm.isspacep.global") {
        result = builder.CreateNot(is_shared(builder, call.getArgOperand(0)));
        return true;
    }
    if (name == "llvm.nvvm.isspacep.local" || name == "llvm.nvvm.isspacep.const") {
        result = builder.getFalse();
        return true;
    }
    if (name == "llvm.trap" || name == "llvm.debugtrap") {
        runtime_call(builder, "__trl_rt_trap", builder.getVoidTy(), {});
        return true;
    }
    return false;
}

// Ends the running thread: the rest of the block is cut off and becomes a return.
void lower_exit(CallBase& call, bool is_kernel) {
    BasicBlock* block = call.getParent();
    Function* function = block->getParent();
    if (!is_kernel)
        core::throw_error(core::ErrorKind::CompileError,
                          "{}: exit inside a function that could not be inlined",
                          readable_name(*function));
    for (BasicBlock* successor : successors(block)) successor->removePredecessor(block);
    while (&block->back() != &call) {
        Instruction& last = block->back();
        last.replaceAllUsesWith(PoisonValue::get(last.getType()));
        last.eraseFromParent();
    }
    call.eraseFromParent();
    ReturnInst::Create(function->getContext(), block);
}

}  // namespace

void lower_plain_intrinsics(Function& function, bool is_kernel) {
    std::vector<CallBase*> calls;
    std::vector<WeakTrackingVH> exits;  // one exit may cut off another
    for (Instruction& instruction : instructions(function)) {
        auto* call = dyn_cast<CallBase>(&instruction);
        Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
        if (callee == nullptr || !callee->isIntrinsic()) continue;
        if (callee->getName() == "llvm.nvvm.exit") {
            exits.push_back(call);
            continue;
        }
        calls.push_back(call);
    }
    for (CallBase* call : calls) {
        IRBuilder<> builder(call);
        StringRef name = call->getCalledFunction()->getName();
        Value* result = nullptr;
        if (lower_call(builder, *call, name, result)) {
            if (result != nullptr) call->replaceAllUsesWith(result);
            call->eraseFromParent();
            continue;
        }
        if (!name.starts_with("llvm.nvvm.") || classify_call(*call) != CallClass::Plain) continue;
        core::throw_error(core::ErrorKind::CompileError,
                          "{}: the device operation {} is not there on the cpu device",
                          readable_name(function), name.str());
    }
    for (WeakTrackingVH& exit : exits)
        if (auto* call = dyn_cast_or_null<CallBase>(static_cast<Value*>(exit)))
            lower_exit(*call, is_kernel);
}

}  // namespace trilane::cpu
