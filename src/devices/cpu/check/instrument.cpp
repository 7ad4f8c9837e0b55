// One guard per access; where the pointer came from decides how it is tested.
#include "devices/cpu/check/instrument.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include <optional>
#include <string>

#include "devices/cpu/check/check_entries.h"
#include "devices/cpu/check/origin.h"
#include "devices/cpu/lower/prepare.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

// A range of memory that an instruction touches.
struct Access {
    Value* pointer = nullptr;
    Value* nbytes = nullptr;  // i64
    uint64_t align = 1;
    AccessKind kind = AccessKind::Read;
};

class Instrumenter {
  public:
    Instrumenter(Module& module, const std::vector<KernelDescription>& kernels)
        : module_(module), data_(module.getDataLayout()), origins_(module, kernels) {
        Type* pointer = PointerType::get(module.getContext(), 0);
        Type* word = Type::getInt64Ty(module.getContext());
        Type* number = Type::getInt32Ty(module.getContext());
        begin_ = pure_entry("__trl_rt_check_begin", FunctionType::get(word, {pointer}, false));
        size_ = pure_entry("__trl_rt_check_size", FunctionType::get(word, {pointer}, false));
        dynamic_ = pure_entry("__trl_rt_check_dynamic_shared", FunctionType::get(word, {}, false));
        check_ = module.getOrInsertFunction(
            "__trl_rt_check_access",
            FunctionType::get(number, {pointer, pointer, word, word, word}, false));
    }

    void run() {
        list_ranges();
        for (Function& function : module_) {
            if (function.isDeclaration()) continue;
            function.removeFnAttr(Attribute::Memory);
            bounds_.clear();
            std::vector<Instruction*> found;
            for (Instruction& instruction : instructions(function))
                if (instruction.mayReadOrWriteMemory()) found.push_back(&instruction);
            for (Instruction* instruction : found) guard(*instruction);
        }
    }

  private:
    struct Bounds {
        Value* begin = nullptr;
        Value* size = nullptr;
    };

    // The same for every thread of a launch, so that it may be moved out of loops.
    FunctionCallee pure_entry(const char* name, FunctionType* type) {
        FunctionCallee callee = module_.getOrInsertFunction(name, type);
        auto* function = cast<Function>(callee.getCallee());
        function->setDoesNotAccessMemory();
        function->setDoesNotThrow();
        function->setWillReturn();
        function->addFnAttr(Attribute::Speculatable);
        return callee;
    }

    Value* bytes_of(Type* type) {
        return ConstantInt::get(Type::getInt64Ty(module_.getContext()),
                                data_.getTypeStoreSize(type).getFixedValue());
    }

    std::vector<Access> accesses_of(Instruction& instruction) {
        if (auto* load = dyn_cast<LoadInst>(&instruction))
            return {{load->getPointerOperand(), bytes_of(load->getType()), load->getAlign().value(),
                     AccessKind::Read}};
        if (auto* store = dyn_cast<StoreInst>(&instruction))
            return {{store->getPointerOperand(), bytes_of(store->getValueOperand()->getType()),
                     store->getAlign().value(), AccessKind::Write}};
        if (auto* atomic = dyn_cast<AtomicRMWInst>(&instruction))
            return {{atomic->getPointerOperand(), bytes_of(atomic->getType()),
                     natural_align(atomic->getType()), AccessKind::Atomic}};
        if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
            Type* type = exchange->getCompareOperand()->getType();
            return {{exchange->getPointerOperand(), bytes_of(type), natural_align(type),
                     AccessKind::Atomic}};
        }
        if (auto* call = dyn_cast<IntrinsicInst>(&instruction)) return accesses_of_call(*call);
        return {};
    }

    uint64_t natural_align(Type* type) { return data_.getTypeStoreSize(type).getFixedValue(); }

    std::vector<Access> accesses_of_call(IntrinsicInst& call) {
        if (auto* set = dyn_cast<MemSetInst>(&call))
            return {{set->getRawDest(), as_word(*set, set->getLength()),
                     set->getDestAlign().valueOrOne().value(), AccessKind::Write}};
        if (auto* copy = dyn_cast<MemTransferInst>(&call))
            return {{copy->getRawDest(), as_word(*copy, copy->getLength()),
                     copy->getDestAlign().valueOrOne().value(), AccessKind::Write},
                    {copy->getRawSource(), as_word(*copy, copy->getLength()),
                     copy->getSourceAlign().valueOrOne().value(), AccessKind::Read}};
        StringRef name = call.getCalledFunction()->getName();
        if (name.starts_with("llvm.nvvm.ldg.global."))
            return {{call.getArgOperand(0), bytes_of(call.getType()),
                     cast<ConstantInt>(call.getArgOperand(1))->getZExtValue(), AccessKind::Read}};
        if (name.starts_with("llvm.nvvm.atomic."))
            return {{call.getArgOperand(0), bytes_of(call.getType()), natural_align(call.getType()),
                     AccessKind::Atomic}};
        return {};
    }

    Value* as_word(Instruction& before, Value* length) {
        return IRBuilder<>(&before).CreateZExtOrTrunc(length,
                                                      Type::getInt64Ty(before.getContext()));
    }

    // Bounds of the array behind an origin, computed once, where all its users can see them.
    Bounds bounds_of(const Origin& origin, Instruction& user) {
        Type* word = Type::getInt64Ty(user.getContext());
        if (origin.base == nullptr) return {ConstantInt::get(word, 0), ConstantInt::get(word, 0)};
        auto [found, fresh] = bounds_.try_emplace(origin.base);
        if (!fresh) return found->second;
        Instruction* place = &*user.getFunction()->getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
        if (auto* instruction = dyn_cast<Instruction>(origin.base))
            if (!isa<AllocaInst>(instruction)) place = instruction->getNextNode();
        IRBuilder<> builder(place);
        builder.SetCurrentDebugLocation(
            user.getFunction()->getSubprogram()
                ? DebugLoc(
                      DILocation::get(user.getContext(), 0, 0, user.getFunction()->getSubprogram()))
                : DebugLoc());
        Value* base = origin.base;
        if (base->getType()->getPointerAddressSpace() != 0)
            base = builder.CreateAddrSpaceCast(base, builder.getPtrTy());
        Bounds bounds;
        if (origin.space == AccessSpace::Global) {
            bounds.begin = builder.CreateCall(begin_, {base});
            bounds.size = builder.CreateCall(size_, {base});
        } else {
            bounds.begin = builder.CreatePtrToInt(base, word);
            bounds.size = origin.space == AccessSpace::DynamicShared
                              ? static_cast<Value*>(builder.CreateCall(dynamic_, {}))
                              : ConstantInt::get(word, origin.size);
        }
        return found->second = bounds;
    }

    bool settled_here(const Access& access, const Origin& origin) {
        if (origin.base == nullptr || origin.size == 0) return false;
        auto* nbytes = dyn_cast<ConstantInt>(access.nbytes);
        APInt offset(64, 0);
        const Value* base = access.pointer->stripAndAccumulateConstantOffsets(data_, offset, true);
        if (nbytes == nullptr || base != origin.base || offset.isNegative()) return false;
        uint64_t at = offset.getZExtValue();
        return at <= origin.size && nbytes->getZExtValue() <= origin.size - at &&
               at % access.align == 0 && origin.align % access.align == 0;
    }

    void guard(Instruction& instruction) {
        std::vector<Access> accesses = accesses_of(instruction);
        std::vector<std::pair<Access, Origin>> open;
        for (const Access& access : accesses) {
            Origin origin = origins_.of(access.pointer);
            if (!origin.safe && !settled_here(access, origin)) open.emplace_back(access, origin);
        }
        if (open.empty()) return;
        for (auto& [access, origin] : open) bounds_of(origin, instruction);  // before the split
        BasicBlock* head = instruction.getParent();
        BasicBlock* then = head->splitBasicBlock(&instruction, "access");
        BasicBlock* after = then->splitBasicBlock(instruction.getNextNode(), "checked");
        BasicBlock* slow = BasicBlock::Create(head->getContext(), "doubt", head->getParent(), then);
        head->getTerminator()->eraseFromParent();
        IRBuilder<> fast(head), doubt(slow);
        fast.SetCurrentDebugLocation(instruction.getDebugLoc());
        doubt.SetCurrentDebugLocation(instruction.getDebugLoc());
        Value* all_good = fast.getTrue();
        Value* all_allowed = doubt.getInt32(1);
        for (auto& [access, origin] : open) {
            Bounds bounds = bounds_of(origin, instruction);
            Value* pointer = flat(fast, access.pointer);
            all_good = fast.CreateAnd(all_good, quick_test(fast, access, pointer, bounds));
            Value* allowed =
                doubt.CreateCall(check_, {site_of(instruction, access, origin), pointer,
                                          access.nbytes, bounds.begin, bounds.size});
            all_allowed = doubt.CreateAnd(all_allowed, allowed);
        }
        fast.CreateCondBr(all_good, then, slow);
        doubt.CreateCondBr(doubt.CreateICmpNE(all_allowed, doubt.getInt32(0)), then, after);
        if (instruction.getType()->isVoidTy()) return;
        PHINode* result = PHINode::Create(instruction.getType(), 2, "", after->begin());
        instruction.replaceAllUsesWith(result);
        result->addIncoming(&instruction, then);
        result->addIncoming(Constant::getNullValue(instruction.getType()), slow);
    }

    Value* flat(IRBuilder<>& builder, Value* pointer) {
        return pointer->getType()->getPointerAddressSpace() == 0
                   ? pointer
                   : builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
    }

    Value* quick_test(IRBuilder<>& builder, const Access& access, Value* pointer,
                      const Bounds& bounds) {
        Value* address = builder.CreatePtrToInt(pointer, builder.getInt64Ty());
        Value* offset = builder.CreateSub(address, bounds.begin);
        Value* good = builder.CreateAnd(
            builder.CreateICmpULT(offset, bounds.size),
            builder.CreateICmpULE(access.nbytes, builder.CreateSub(bounds.size, offset)));
        if (access.align <= 1) return good;
        Value* rest = builder.CreateAnd(address, builder.getInt64(access.align - 1));
        return builder.CreateAnd(good, builder.CreateICmpEQ(rest, builder.getInt64(0)));
    }

    Constant* text(StringRef value) {
        Constant*& known = texts_[value];
        if (known != nullptr) return known;
        Constant* bytes = ConstantDataArray::getString(module_.getContext(), value);
        auto* variable = new GlobalVariable(module_, bytes->getType(), true,
                                            GlobalValue::PrivateLinkage, bytes, "trl.text");
        variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
        return known = variable;
    }

    // As CheckSite.
    Constant* site_of(const Instruction& instruction, const Access& access, const Origin& origin) {
        SourcePlace place = place_of(instruction);
        Type* number = Type::getInt32Ty(module_.getContext());
        auto value = [&](uint64_t n) { return ConstantInt::get(number, n); };
        Constant* fields[] = {
            text(place.file),
            text(origin.name),
            value(place.line),
            value(static_cast<uint64_t>(access.kind)),
            value(static_cast<uint64_t>(origin.space)),
            value(origin.element),
            ConstantInt::get(Type::getInt64Ty(module_.getContext()), access.align)};
        Constant* site = ConstantStruct::getAnon(fields);
        return new GlobalVariable(module_, site->getType(), true, GlobalValue::PrivateLinkage, site,
                                  "trl.site");
    }

    // As CheckRanges: what pointers can point to that no allocation holds.
    void list_ranges() {
        LLVMContext& context = module_.getContext();
        Type* pointer = PointerType::get(context, 0);
        Type* word = Type::getInt64Ty(context);
        std::vector<Constant*> rows;
        std::vector<GlobalVariable*> variables;
        for (GlobalVariable& variable : module_.globals())
            if (!variable.isDeclaration() && variable.getAddressSpace() != 3 &&
                !variable.getName().starts_with("llvm."))
                variables.push_back(&variable);
        for (GlobalVariable* variable : variables) {
            bool named = variable->getAddressSpace() != 0;
            Constant* address = variable;
            if (named) address = ConstantExpr::getAddrSpaceCast(address, pointer);
            rows.push_back(ConstantStruct::getAnon(
                {address, ConstantInt::get(word, data_.getTypeAllocSize(variable->getValueType())),
                 text(named ? source_name(variable->getName()) : "")}));
        }
        auto* row = StructType::get(context, {pointer, word, pointer});
        Constant* table =
            ConstantStruct::getAnon({ConstantInt::get(word, rows.size()),
                                     ConstantArray::get(ArrayType::get(row, rows.size()), rows)});
        new GlobalVariable(module_, table->getType(), false, GlobalValue::ExternalLinkage, table,
                           kCheckRanges);
    }

    Module& module_;
    const DataLayout& data_;
    Origins origins_;
    FunctionCallee begin_, size_, dynamic_, check_;
    DenseMap<Value*, Bounds> bounds_;
    StringMap<Constant*> texts_;
};

// Pointers then lead straight to where they came from.
void promote_locals(Module& module) {
    PassBuilder builder;
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager components;
    ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    FunctionPassManager passes;
    passes.addPass(SROAPass(SROAOptions::PreserveCFG));
    for (Function& function : module)
        if (!function.isDeclaration()) passes.run(function, functions);
}

}  // namespace

void instrument_accesses(Module& module, const std::vector<KernelDescription>& kernels) {
    inline_into_kernels(module, kernels);
    promote_locals(module);
    Instrumenter(module, kernels).run();
    StripDebugInfo(module);  // the places are in the sites now
}

}  // namespace trilane::cpu
