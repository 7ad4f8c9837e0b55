// Known PTX statements as intrinsics.
#include "devices/cpu/compile/inline_ptx.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <vector>

namespace trilane::cpu {

using namespace llvm;

namespace {

// "bar.sync 1, 32;" -> {"bar.sync", {"1", "32"}}. Empty if it is more than one statement.
struct Statement {
    std::string operation;
    SmallVector<std::string, 4> operands;
};

Statement parse(StringRef text) {
    Statement statement;
    text = text.trim();
    if (!text.consume_back(";") || text.contains(';') || text.contains('{')) return statement;
    auto [operation, rest] =
        text.trim().split(text.contains('\t') && !text.contains(' ') ? '\t' : ' ');
    SmallVector<StringRef, 4> parts;
    rest.split(parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
        if (!part.trim().empty()) statement.operands.push_back(part.trim().str());
    statement.operation = operation.trim().str();
    return statement;
}

const std::map<std::string, Intrinsic::ID>& registers() {
    static const std::map<std::string, Intrinsic::ID> table = {
        {"%laneid", Intrinsic::nvvm_read_ptx_sreg_laneid},
        {"%warpid", Intrinsic::nvvm_read_ptx_sreg_warpid},
        {"%nwarpid", Intrinsic::nvvm_read_ptx_sreg_nwarpid},
        {"%smid", Intrinsic::nvvm_read_ptx_sreg_smid},
        {"%nsmid", Intrinsic::nvvm_read_ptx_sreg_nsmid},
        {"%gridid", Intrinsic::nvvm_read_ptx_sreg_gridid},
        {"%lanemask_eq", Intrinsic::nvvm_read_ptx_sreg_lanemask_eq},
        {"%lanemask_lt", Intrinsic::nvvm_read_ptx_sreg_lanemask_lt},
        {"%lanemask_le", Intrinsic::nvvm_read_ptx_sreg_lanemask_le},
        {"%lanemask_ge", Intrinsic::nvvm_read_ptx_sreg_lanemask_ge},
        {"%lanemask_gt", Intrinsic::nvvm_read_ptx_sreg_lanemask_gt},
        {"%clock", Intrinsic::nvvm_read_ptx_sreg_clock},
        {"%clock64", Intrinsic::nvvm_read_ptx_sreg_clock64},
        {"%globaltimer", Intrinsic::nvvm_read_ptx_sreg_globaltimer},
        {"%tid.x", Intrinsic::nvvm_read_ptx_sreg_tid_x},
        {"%tid.y", Intrinsic::nvvm_read_ptx_sreg_tid_y},
        {"%tid.z", Intrinsic::nvvm_read_ptx_sreg_tid_z},
        {"%ntid.x", Intrinsic::nvvm_read_ptx_sreg_ntid_x},
        {"%ntid.y", Intrinsic::nvvm_read_ptx_sreg_ntid_y},
        {"%ntid.z", Intrinsic::nvvm_read_ptx_sreg_ntid_z},
        {"%ctaid.x", Intrinsic::nvvm_read_ptx_sreg_ctaid_x},
        {"%ctaid.y", Intrinsic::nvvm_read_ptx_sreg_ctaid_y},
        {"%ctaid.z", Intrinsic::nvvm_read_ptx_sreg_ctaid_z},
        {"%nctaid.x", Intrinsic::nvvm_read_ptx_sreg_nctaid_x},
        {"%nctaid.y", Intrinsic::nvvm_read_ptx_sreg_nctaid_y},
        {"%nctaid.z", Intrinsic::nvvm_read_ptx_sreg_nctaid_z}};
    return table;
}

class Translation {
  public:
    explicit Translation(CallBase& call) : call_(call), builder_(&call) {}

    // True if the call was replaced; it is still there.
    bool run(const Statement& statement) {
        StringRef operation = statement.operation;
        size_t count = statement.operands.size();
        if (operation.starts_with("mov.") && count == 2 && statement.operands[0] == "$0")
            return read_register(statement.operands[1]);
        if (!call_.getType()->isVoidTy()) return false;
        if (operation == "bar.sync" || operation == "barrier.sync" ||
            operation == "barrier.sync.aligned")
            return barrier(statement);
        if (operation == "bar.warp.sync" && count == 1)
            return emit(Intrinsic::nvvm_bar_warp_sync, {operand(statement.operands[0])});
        if (operation == "nanosleep.u32" && count == 1)
            return emit(Intrinsic::nvvm_nanosleep, {operand(statement.operands[0])});
        if (count != 0) return false;
        if (operation == "membar.cta") return emit(Intrinsic::nvvm_membar_cta, {});
        if (operation == "membar.gl") return emit(Intrinsic::nvvm_membar_gl, {});
        if (operation == "membar.sys") return emit(Intrinsic::nvvm_membar_sys, {});
        if (operation.starts_with("fence.acq_rel.") || operation.starts_with("fence.sc."))
            return emit(Intrinsic::nvvm_membar_sys, {});
        if (operation == "trap") return emit(Intrinsic::trap, {});
        if (operation == "exit") return emit(Intrinsic::nvvm_exit, {});
        return false;
    }

  private:
    // A constant, or "$n": the call's n-th argument, since these statements have no output.
    Value* operand(const std::string& text) {
        uint32_t number = 0;
        if (!StringRef(text).getAsInteger(0, number)) return builder_.getInt32(number);
        StringRef reference = text;
        if (!reference.consume_front("$") || reference.getAsInteger(10, number) ||
            number >= call_.arg_size() || !call_.getArgOperand(number)->getType()->isIntegerTy(32))
            return nullptr;
        return call_.getArgOperand(number);
    }

    bool emit(Intrinsic::ID id, ArrayRef<Value*> arguments) {
        for (Value* argument : arguments)
            if (argument == nullptr) return false;
        builder_.CreateCall(Intrinsic::getDeclaration(call_.getModule(), id), arguments);
        return true;
    }

    bool barrier(const Statement& statement) {
        if (statement.operands.empty() || statement.operands.size() > 2) return false;
        Value* id = operand(statement.operands[0]);
        if (statement.operands.size() == 1) return emit(Intrinsic::nvvm_barrier_n, {id});
        return emit(Intrinsic::nvvm_barrier, {id, operand(statement.operands[1])});
    }

    bool read_register(const std::string& name) {
        auto found = registers().find(name);
        if (found == registers().end() || !call_.getType()->isIntegerTy()) return false;
        Function* read = Intrinsic::getDeclaration(call_.getModule(), found->second);
        Value* value = builder_.CreateCall(read, {});
        call_.replaceAllUsesWith(builder_.CreateZExtOrTrunc(value, call_.getType()));
        return true;
    }

    CallBase& call_;
    IRBuilder<> builder_;
};

}  // namespace

void lower_inline_ptx(Module& module) {
    std::vector<CallBase*> calls;
    for (Function& function : module)
        for (Instruction& instruction : instructions(function))
            if (auto* call = dyn_cast<CallBase>(&instruction);
                call != nullptr && call->isInlineAsm())
                calls.push_back(call);
    for (CallBase* call : calls) {
        const auto* assembly = cast<InlineAsm>(call->getCalledOperand());
        Statement statement = parse(assembly->getAsmString());
        if (!statement.operation.empty() && Translation(*call).run(statement))
            call->eraseFromParent();
    }
}

}  // namespace trilane::cpu
