// Follows pointers back through arithmetic, casts, phis and selects.
#include "devices/cpu/check/origin.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>

namespace trilane::cpu {

using namespace llvm;

namespace {

uint32_t element_bytes(const DataLayout& data, Type* type) {
    while (auto* array = dyn_cast<ArrayType>(type)) type = array->getElementType();
    return type->isSized() ? static_cast<uint32_t>(data.getTypeAllocSize(type)) : 1;
}

// Names of locals carry ".i", ".addr" and numbers from inlining.
std::string local_name(StringRef name) { return name.substr(0, name.find('.')).str(); }

}  // namespace

std::string source_name(StringRef symbol) {
    std::string name = demangle(symbol.str());
    size_t at = name.rfind("::");
    return at == std::string::npos ? name : name.substr(at + 2);
}

SourcePlace place_of(const Instruction& instruction) {
    const DILocation* location = instruction.getDebugLoc().get();
    if (location == nullptr) return {};
    const DILocation* outer = location;
    while (outer != nullptr &&
           (outer->getFilename().starts_with("/trilane/") || outer->getLine() == 0))
        outer = outer->getInlinedAt();
    if (outer == nullptr) outer = location;
    return {outer->getFilename().str(), outer->getLine()};
}

Origins::Origins(Module& module, const std::vector<KernelDescription>& kernels)
    : data_(module.getDataLayout()) {
    for (const KernelDescription& kernel : kernels) kernels_[kernel.name] = &kernel;
}

Origin Origins::of(Value* pointer) const {
    SmallVector<const Value*, 4> found;
    getUnderlyingObjects(pointer, found, nullptr, 0);
    llvm::erase_if(found, [](const Value* value) {
        return isa<ConstantPointerNull>(value) || isa<UndefValue>(value);
    });
    if (found.size() != 1) return {};
    auto* base = const_cast<Value*>(found.front());
    if (auto* argument = dyn_cast<Argument>(base)) return of_argument(*argument);
    if (auto* load = dyn_cast<LoadInst>(base)) return of_load(*load);
    if (auto* variable = dyn_cast<GlobalVariable>(base)) return of_variable(*variable);
    if (auto* slot = dyn_cast<AllocaInst>(base)) return of_local(*slot);
    return {};
}

Origin Origins::of_argument(Argument& argument) const {
    Origin origin;
    auto kernel = kernels_.find(argument.getParent()->getName());
    if (argument.hasByValAttr()) {
        origin.base = &argument;
        origin.space = AccessSpace::Local;
        origin.size = data_.getTypeAllocSize(argument.getParamByValType());
        origin.align = argument.getParamAlign().valueOrOne().value();
    } else if (kernel == kernels_.end() || argument.hasStructRetAttr()) {
        return origin;
    } else {
        origin.base = &argument;
    }
    if (kernel == kernels_.end() || argument.getArgNo() >= kernel->second->parameters.size())
        return origin;
    const core::Parameter& parameter = kernel->second->parameters[argument.getArgNo()];
    origin.name = parameter.name;
    if (parameter.kind == core::ParameterKind::Pointer && parameter.pointee_size != 0)
        origin.element = parameter.pointee_size;
    return origin;
}

// A pointer that lies in a structure which the kernel takes by value.
Origin Origins::of_load(LoadInst& load) const {
    APInt offset(64, 0);
    Value* from = load.getPointerOperand()->stripAndAccumulateConstantOffsets(data_, offset, true);
    auto* argument = dyn_cast<Argument>(from);
    if (argument == nullptr || !argument->hasByValAttr() ||
        !kernels_.contains(argument->getParent()->getName()))
        return {};
    Origin origin = of_argument(*argument);
    origin.base = &load;
    origin.space = AccessSpace::Global;
    origin.size = 0;
    origin.align = 1;
    return origin;
}

Origin Origins::of_variable(GlobalVariable& variable) const {
    Origin origin;
    bool shared = variable.getAddressSpace() == 3;
    origin.base = &variable;
    origin.name = source_name(variable.getName());
    origin.element = element_bytes(data_, variable.getValueType());
    if (shared && variable.isDeclaration()) {
        origin.space = AccessSpace::DynamicShared;
        return origin;
    }
    origin.space = shared ? AccessSpace::Shared : AccessSpace::Variable;
    origin.size = data_.getTypeAllocSize(variable.getValueType());
    origin.align = variable.getAlign().valueOrOne().value();
    return origin;
}

Origin Origins::of_local(AllocaInst& slot) const {
    Origin origin;
    auto size = slot.getAllocationSize(data_);
    if (!size || !slot.isStaticAlloca()) return origin;
    origin.base = &slot;
    origin.space = AccessSpace::Local;
    origin.name = local_name(slot.getName());
    origin.size = size->getFixedValue();
    origin.align = slot.getAlign().value();
    origin.element = element_bytes(data_, slot.getAllocatedType());
    return origin;
}

}  // namespace trilane::cpu
