// Special registers as values of the block function.
#include "devices/cpu/lower/registers.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>

#include "core/error.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;

Value* context_field(IRBuilder<>& builder, Value* context, size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context, offset);
}

namespace {

Value* load_bounded(IRBuilder<>& builder, Value* context, size_t offset, uint32_t low,
                    uint64_t high, const Twine& name) {
    LoadInst* load = builder.CreateAlignedLoad(
        builder.getInt32Ty(), context_field(builder, context, offset), Align(4), name);
    MDBuilder metadata(builder.getContext());
    load->setMetadata(LLVMContext::MD_range, metadata.createRange(APInt(32, low), APInt(32, high)));
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(builder.getContext(), {}));
    load->setMetadata(LLVMContext::MD_noundef, MDNode::get(builder.getContext(), {}));
    return load;
}

}  // namespace

BlockValues load_block_values(IRBuilder<>& builder, Value* context) {
    BlockValues values;
    values.context = context;
    LoadInst* shared = builder.CreateAlignedLoad(
        builder.getPtrTy(), context_field(builder, context, offsetof(BlockContext, shared)),
        Align(8), "shared");
    shared->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(builder.getContext(), {}));
    values.shared = shared;
    static constexpr char kAxis[] = {'x', 'y', 'z'};
    for (unsigned axis = 0; axis < 3; ++axis) {
        uint64_t grid_limit = axis == 0 ? (uint64_t{1} << 31) : 65536;
        uint64_t block_limit = axis == 2 ? 65 : 1025;
        size_t step = 4 * axis;
        values.block_idx[axis] =
            load_bounded(builder, context, offsetof(BlockContext, block_idx) + step, 0,
                         grid_limit - 1, Twine("block.") + Twine(kAxis[axis]));
        values.block_dim[axis] =
            load_bounded(builder, context, offsetof(BlockContext, block_dim) + step, 1, block_limit,
                         Twine("ntid.") + Twine(kAxis[axis]));
        values.grid_dim[axis] =
            load_bounded(builder, context, offsetof(BlockContext, grid_dim) + step, 1, grid_limit,
                         Twine("grid.") + Twine(kAxis[axis]));
    }
    return values;
}

Value* linear_thread(IRBuilder<>& builder, const BlockValues& values) {
    Value* plane = builder.CreateNUWAdd(
        builder.CreateNUWMul(values.thread_idx[2], values.block_dim[1]), values.thread_idx[1]);
    return builder.CreateAdd(builder.CreateMul(plane, values.block_dim[0], "", true, true),
                             values.thread_idx[0], "linear", true, true);
}

namespace {

class RegisterLowering {
  public:
    RegisterLowering(Function& function, const BlockValues* values)
        : function_(function), values_(values) {}

    void run() {
        std::vector<CallBase*> calls;
        for (Instruction& instruction : instructions(function_))
            if (auto* call = dyn_cast<CallBase>(&instruction))
                if (classify_call(*call) == CallClass::Register) calls.push_back(call);
        for (CallBase* call : calls) {
            IRBuilder<> builder(call);
            StringRef name = call->getCalledFunction()->getName();
            name.consume_front("llvm.nvvm.read.ptx.sreg.");
            Value* value = read(builder, name);
            if (value == nullptr)
                core::throw_error(core::ErrorKind::CompileError,
                                  "{}: the special register %{} is not known to the cpu device",
                                  readable_name(function_), name.str());
            if (value->getType() != call->getType())
                value = builder.CreateZExtOrTrunc(value, call->getType());
            call->replaceAllUsesWith(value);
            call->eraseFromParent();
        }
    }

  private:
    Value* ask(IRBuilder<>& builder, const char* symbol, uint32_t argument) {
        Module& module = *function_.getParent();
        FunctionCallee callee = module.getOrInsertFunction(
            symbol, FunctionType::get(builder.getInt32Ty(), {builder.getInt32Ty()}, false));
        return builder.CreateCall(callee, {builder.getInt32(argument)});
    }

    Value* runtime_call(IRBuilder<>& builder, const char* symbol, Type* type) {
        Module& module = *function_.getParent();
        FunctionCallee callee =
            module.getOrInsertFunction(symbol, FunctionType::get(type, {}, false));
        return builder.CreateCall(callee, {});
    }

    Value* axis_value(IRBuilder<>& builder, StringRef stem, unsigned axis) {
        if (stem == "tid")
            return values_ ? values_->thread_idx[axis] : ask(builder, "__trl_rt_thread_idx", axis);
        if (stem == "ntid")
            return values_ ? values_->block_dim[axis] : ask(builder, "__trl_rt_block_dim", axis);
        if (stem == "ctaid")
            return values_ ? values_->block_idx[axis] : ask(builder, "__trl_rt_block_idx", axis);
        if (stem == "nctaid")
            return values_ ? values_->grid_dim[axis] : ask(builder, "__trl_rt_grid_dim", axis);
        if (stem == "clusterid" || stem == "nclusterid" || stem == "cluster.ctaid" ||
            stem == "cluster.nctaid")
            return cluster_value(builder, stem, axis);
        return nullptr;
    }

    // Of the block's cluster along an axis.
    Value* cluster_size(IRBuilder<>& builder, unsigned axis) {
        if (values_ == nullptr) return ask(builder, "__trl_rt_cluster_dim", axis);
        return load_bounded(builder, values_->context,
                            offsetof(BlockContext, cluster_dim) + 4 * axis, 1, 9, "cluster");
    }

    Value* cluster_value(IRBuilder<>& builder, StringRef stem, unsigned axis) {
        Value* size = cluster_size(builder, axis);
        if (stem == "cluster.nctaid") return size;
        if (stem == "nclusterid")
            return builder.CreateUDiv(axis_value(builder, "nctaid", axis), size);
        Value* block = axis_value(builder, "ctaid", axis);
        return stem == "clusterid" ? builder.CreateUDiv(block, size)
                                   : builder.CreateURem(block, size);
    }

    Value* cluster_rank(IRBuilder<>& builder, bool count) {
        Value *rank = builder.getInt32(0), *blocks = builder.getInt32(1);
        for (unsigned axis = 3; axis-- > 0;) {
            Value* size = cluster_size(builder, axis);
            rank = builder.CreateAdd(builder.CreateMul(rank, size),
                                     cluster_value(builder, "cluster.ctaid", axis));
            blocks = builder.CreateMul(blocks, size);
        }
        return count ? blocks : rank;
    }

    Value* linear(IRBuilder<>& builder) {
        return values_ ? linear_thread(builder, *values_) : ask(builder, "__trl_rt_thread_idx", 3);
    }

    Value* threads(IRBuilder<>& builder) {
        if (values_ == nullptr) return ask(builder, "__trl_rt_block_dim", 3);
        return builder.CreateMul(builder.CreateMul(values_->block_dim[0], values_->block_dim[1]),
                                 values_->block_dim[2]);
    }

    Value* lane_mask(IRBuilder<>& builder, StringRef which) {
        Value* lane = builder.CreateAnd(linear(builder), 31);
        Value* equal = builder.CreateShl(builder.getInt32(1), lane);
        Value* below = builder.CreateSub(equal, builder.getInt32(1));
        if (which == "eq") return equal;
        if (which == "lt") return below;
        if (which == "le") return builder.CreateOr(below, equal);
        if (which == "ge") return builder.CreateNot(below);
        if (which == "gt") return builder.CreateNot(builder.CreateOr(below, equal));
        return nullptr;
    }

    Value* read(IRBuilder<>& builder, StringRef name) {
        auto [stem, part] = name.rsplit('.');
        if (part.size() == 1 && part[0] >= 'x' && part[0] <= 'z')
            return axis_value(builder, stem, unsigned(part[0] - 'x'));
        if (part == "w") return builder.getInt32(0);
        if (stem == "lanemask") return lane_mask(builder, part);
        if (name == "cluster.ctarank") return cluster_rank(builder, false);
        if (name == "cluster.nctarank") return cluster_rank(builder, true);
        if (name == "laneid") return builder.CreateAnd(linear(builder), 31);
        if (name == "warpid") return builder.CreateLShr(linear(builder), 5);
        if (name == "nwarpid")
            return builder.CreateLShr(builder.CreateAdd(threads(builder), builder.getInt32(31)), 5);
        if (name == "warpsize") return builder.getInt32(32);
        if (name == "smid") return runtime_call(builder, "__trl_rt_smid", builder.getInt32Ty());
        if (name == "nsmid") return runtime_call(builder, "__trl_rt_nsmid", builder.getInt32Ty());
        if (name == "gridid") return builder.getInt32(1);
        if (name == "clock" || name == "clock64" || name == "globaltimer")
            return runtime_call(builder, "__trl_rt_clock", builder.getInt64Ty());
        return nullptr;
    }

    Function& function_;
    const BlockValues* values_;
};

}  // namespace

void lower_registers(Function& function, const BlockValues* values) {
    RegisterLowering(function, values).run();
}

}  // namespace trilane::cpu
