// Functions around a kernel's body.
#include "devices/cpu/lower/kernel_body.h"

#include <llvm/Transforms/Utils/Cloning.h>

#include "core/error.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;

Function* make_function_like(Function& kernel, ArrayRef<Type*> parameters,
                             GlobalValue::LinkageTypes linkage, const std::string& symbol) {
    LLVMContext& context = kernel.getContext();
    Function* function =
        Function::Create(FunctionType::get(Type::getVoidTy(context), parameters, false), linkage,
                         symbol, *kernel.getParent());
    function->setAttributes(AttributeList().addFnAttributes(
        context, AttrBuilder(context, kernel.getAttributes().getFnAttrs())));
    function->addFnAttr(Attribute::NoUnwind);
    return function;
}

Function* make_block_function(Function& kernel, const std::string& symbol) {
    LLVMContext& context = kernel.getContext();
    Function* function = make_function_like(kernel, {PointerType::get(context, 0)},
                                            GlobalValue::ExternalLinkage, symbol);
    function->addParamAttr(0, Attribute::NoAlias);
    function->addDereferenceableParamAttr(0, sizeof(BlockContext));
    function->addParamAttr(0, Attribute::getWithAlignment(context, Align(8)));
    return function;
}

SmallVector<Value*, 8> load_arguments(IRBuilder<>& builder, Function& kernel, Value* context) {
    SmallVector<Value*, 8> arguments;
    const DataLayout& data = kernel.getParent()->getDataLayout();
    MDNode* invariant = MDNode::get(builder.getContext(), {});
    // So that arguments are loaded before loops in which they may not be used.
    auto set_readable = [&](LoadInst* pointer, uint64_t nbytes, Align align) {
        auto number = [&](uint64_t value) {
            return MDNode::get(builder.getContext(),
                               ConstantAsMetadata::get(builder.getInt64(value)));
        };
        pointer->setMetadata(LLVMContext::MD_dereferenceable, number(nbytes));
        pointer->setMetadata(LLVMContext::MD_align, number(align.value()));
    };
    LoadInst* table = builder.CreateAlignedLoad(
        builder.getPtrTy(), context_field(builder, context, offsetof(BlockContext, arguments)),
        Align(8), "arguments");
    table->setMetadata(LLVMContext::MD_invariant_load, invariant);
    if (!kernel.arg_empty()) set_readable(table, 8 * kernel.arg_size(), Align(8));
    for (Argument& argument : kernel.args()) {
        LoadInst* address = builder.CreateAlignedLoad(
            builder.getPtrTy(),
            builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), table, argument.getArgNo()),
            Align(8));
        address->setMetadata(LLVMContext::MD_invariant_load, invariant);
        if (argument.hasByValAttr()) {
            arguments.push_back(address);
            continue;
        }
        Type* type = argument.getType();
        const Align align = type->isVectorTy() ? Align(1) : data.getABITypeAlign(type);
        set_readable(address, data.getTypeStoreSize(type), align);
        LoadInst* value = builder.CreateAlignedLoad(type, address, align, argument.getName());
        value->setMetadata(LLVMContext::MD_invariant_load, invariant);
        arguments.push_back(value);
    }
    return arguments;
}

void inline_kernel(IRBuilder<>& builder, Function& kernel, ArrayRef<Value*> arguments,
                   const SharedLayout& layout, const BlockValues& values) {
    Function& function = *builder.GetInsertBlock()->getParent();
    CallInst* call = builder.CreateCall(&kernel, arguments);
    call->setAttributes(kernel.getAttributes().removeFnAttributes(kernel.getContext()));
    InlineFunctionInfo info;
    InlineResult result = InlineFunction(*call, info);
    TRILANE_CHECK(result.isSuccess(), "{}: {}", kernel.getName().str(), result.getFailureReason());
    lower_registers(function, &values);
    lower_shared(function, layout, values.shared);
}

}  // namespace trilane::cpu
