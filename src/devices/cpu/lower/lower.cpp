// The lowering from the outside: stages in order.
#include "devices/cpu/lower/lower.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <chrono>
#include <mutex>

#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/coroutine_shape.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/masked_memory.h"
#include "devices/cpu/lower/passes.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/lower/regions.h"
#include "devices/cpu/lower/registers.h"
#include "devices/cpu/lower/suspends.h"
#include "devices/cpu/lower/target.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

// Private arrays of all lanes of a vector; a block function has two copies of them.
constexpr size_t kMostPrivateBytes = 256 << 10;

thread_local LowerTimes times;
std::mutex last_times_mutex;
LowerTimes last_times;

class Stopwatch {
  public:
    explicit Stopwatch(uint64_t& total) : total_(total), start_(now()) {}
    ~Stopwatch() { total_ += now() - start_; }

  private:
    static uint64_t now() {
        return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count());
    }
    uint64_t& total_;
    uint64_t start_;
};

class Lowering {
  public:
    Lowering(FrontEndResult& front, int lanes)
        : front_(front),
          lanes_(lanes),
          module_(*front.module),
          optimizer_(front.options.optimize) {}

    LoweredModule run() {
        {
            Stopwatch watch(times.prepare_ns);
            prepare();
        }
        for (KernelDescription& kernel : front_.kernels) lower_kernel(kernel);
        {
            Stopwatch watch(times.shape_ns);
            split_coroutines();
        }
        finish();
        Stopwatch watch(times.codegen_ns);
        result_.object = generate_object(module_);
        result_.target_cpu = host_cpu();
        result_.target_features = host_features();
        return std::move(result_);
    }

  private:
    void prepare() {
        set_target(module_);
        inline_into_kernels(module_, front_.kernels);
        outlined_ = check_outlined(module_, front_.kernels);
        for (Function* function : outlined_) {
            lower_plain_intrinsics(*function, false);
            optimizer_.simplify(*function);
        }
    }

    void lower_kernel(KernelDescription& description) {
        Function* kernel = module_.getFunction(description.name);
        TRILANE_CHECK(kernel != nullptr && !kernel->isDeclaration(), "no kernel {} in the module",
                      description.name);
        LoweredKernel lowered;
        lowered.description = description;
        lowered.entry_symbol = fmt::format("trilane_block_{}", result_.kernels.size());
        {
            Stopwatch watch(times.shape_ns);
            lower_plain_intrinsics(*kernel, true);
            optimizer_.forget(*kernel);
            optimizer_.simplify(*kernel);
        }
        mark_shared_atomics(*kernel);
        SharedLayout layout = layout_shared(module_, kernel, outlined_);
        lowered.static_shared_bytes = layout.static_bytes;
        lowered.dynamic_shared_align = layout.dynamic_align;
        lowered.local_bytes = private_bytes(*kernel);
        lowered.shape = BlockShape::Loop;
        bool shaped = false;
        lowered.meets_cluster = meets_cluster(*kernel);
        if (lowered.meets_cluster) {
            // Blocks of the cluster take turns, and their threads.
        } else if (!needs_coroutines(*kernel, optimizer_)) {
            shaped = shape_as_loop(*kernel, layout, lowered) ||
                     shape_as_regions(*kernel, layout, lowered);
        } else if (waits_in_warps_only(*kernel, optimizer_)) {
            shaped = (!strided_latches(*kernel, optimizer_).empty() &&
                      shape_as_regions(*kernel, layout, lowered)) ||
                     shape_as_warps(*kernel, layout, lowered);
        } else {
            shaped = shape_as_regions(*kernel, layout, lowered);
        }
        if (shaped && has_warp_operation(*kernel))
            lowered.turns_symbol = lowered.entry_symbol + "_turns";
        if (!shaped) lowered.shape = BlockShape::Coroutine;
        if (!shaped || !lowered.turns_symbol.empty())
            shape_as_coroutines(*kernel, layout, lowered,
                                shaped ? lowered.turns_symbol : lowered.entry_symbol);
        kernel->replaceAllUsesWith(PoisonValue::get(kernel->getType()));
        optimizer_.forget(*kernel);
        kernel->eraseFromParent();
        result_.kernels.push_back(std::move(lowered));
    }

    size_t private_bytes(Function& kernel) {
        size_t nbytes = 0;
        for (Instruction& instruction : instructions(kernel))
            if (auto* array = dyn_cast<AllocaInst>(&instruction))
                if (auto size = array->getAllocationSize(module_.getDataLayout()))
                    nbytes += size->getFixedValue();
        return nbytes;
    }

    // False, with nothing left behind, if the threads should take turns instead.
    bool shape_as_loop(Function& kernel, const SharedLayout& layout, LoweredKernel& lowered) {
        Function* function = nullptr;
        {
            Stopwatch watch(times.shape_ns);
            function = build_loop_shape(kernel, layout, lowered.entry_symbol, lowered);
        }
        Stopwatch watch(times.optimize_ns);
        optimizer_.simplify(*function);
        if (front_.options.optimize == 0) return true;
        optimizer_.hoist(*function);
        if (!interchange_strided_loop(*function, optimizer_, lowered)) {
            if (!strided_latches(kernel, optimizer_).empty()) {
                optimizer_.forget(*function);
                function->eraseFromParent();
                lowered.narrow_axes = 0;
                lowered.row_fold = RowFold::None;
                return false;
            }
            clamp_thread_loop(*function, optimizer_);
        }
        if (unsigned lanes = lanes_of(lowered);
            lanes > 1 && vectorize_thread_loop(*function, optimizer_, lanes)) {
            lowered.lanes = lanes;
            optimizer_.simplify(*function);
            optimizer_.optimize(*function);
            optimizer_.tidy(*function);
            return true;
        }
        optimizer_.optimize(*function);
        mark_threads_independent(*function, optimizer_);
        optimizer_.vectorize(*function);
        return true;
    }

    bool shape_as_regions(Function& kernel, const SharedLayout& layout, LoweredKernel& lowered) {
        unsigned lanes = chosen_lanes();
        if (lanes <= 1 || front_.options.optimize == 0 || has_checked_arrays(lowered)) return false;
        Stopwatch watch(times.shape_ns);
        Function* function =
            build_region_shape(kernel, layout, lowered.entry_symbol, optimizer_, lanes, lowered);
        if (function == nullptr) return false;
        optimizer_.simplify(*function);
        optimizer_.optimize(*function);
        optimizer_.tidy(*function);
        return true;
    }

    // Warps one after the other, the 32 lanes of each at a time. False, with nothing left behind,
    // if lanes may come to a warp operation apart from others that it waits for.
    bool shape_as_warps(Function& kernel, const SharedLayout& layout, LoweredKernel& lowered) {
        constexpr unsigned kWarp = 32;
        if (chosen_lanes() <= 1 || front_.options.optimize == 0 || has_checked_arrays(lowered) ||
            lowered.local_bytes * kWarp > kMostPrivateBytes)
            return false;
        Function* function = nullptr;
        {
            Stopwatch watch(times.shape_ns);
            function = build_loop_shape(kernel, layout, lowered.entry_symbol, lowered, true);
        }
        Stopwatch watch(times.optimize_ns);
        optimizer_.simplify(*function);
        optimizer_.hoist(*function);
        clamp_thread_loop(*function, optimizer_);
        if (!vectorize_thread_loop(*function, optimizer_, kWarp)) {
            optimizer_.forget(*function);
            function->eraseFromParent();
            lowered.narrow_axes = 0;
            return false;
        }
        lowered.lanes = kWarp;
        optimizer_.simplify(*function);
        optimizer_.optimize(*function);
        optimizer_.tidy(*function);
        return true;
    }

    // The checks know a thread's own arrays by its stack, where no other thread has any.
    bool has_checked_arrays(const LoweredKernel& lowered) const {
        return front_.options.check && lowered.local_bytes > 0;
    }

    // As many as have room for their private arrays on the stack.
    unsigned lanes_of(const LoweredKernel& lowered) const {
        unsigned lanes = has_checked_arrays(lowered) ? 1 : chosen_lanes();
        while (lanes > 1 && lowered.local_bytes * lanes > kMostPrivateBytes) lanes /= 2;
        return lanes;
    }

    // The environment before the program's option before what suits the processor.
    unsigned chosen_lanes() const {
        if (lanes_ > 0) return unsigned(lanes_);
        return front_.options.lanes > 0 ? unsigned(front_.options.lanes) : preferred_lanes();
    }

    void shape_as_coroutines(Function& kernel, const SharedLayout& layout, LoweredKernel& lowered,
                             const std::string& symbol) {
        Function* function = nullptr;
        {
            Stopwatch watch(times.shape_ns);
            mark_volatile_shared(kernel);
            function = build_coroutine_body(kernel, layout, symbol);
        }
        {
            Stopwatch watch(times.optimize_ns);
            optimizer_.simplify(*function);
            optimizer_.optimize(*function);
        }
        Stopwatch watch(times.shape_ns);
        insert_suspensions(*function, optimizer_, lowered);
        coroutines_.push_back({function, result_.kernels.size()});
    }

    // One split for all: it walks the whole module.
    void split_coroutines() {
        if (coroutines_.empty()) return;
        optimizer_.split_coroutines(module_);
        for (auto& [function, kernel] : coroutines_) {
            Function* resume = finish_coroutine(*function, result_.kernels[kernel]);
            for (Function* part : {function, resume}) {
                if (part == nullptr) continue;
                optimizer_.forget(*part);
                optimizer_.simplify(*part);
            }
        }
        drop_frame_mark(module_);
    }

    void finish() {
        SharedLayout layout = layout_shared(module_, nullptr, outlined_);
        for (Function* function : outlined_) {
            lower_registers(*function, nullptr);
            lower_shared(*function, layout, nullptr);
        }
        drop_shared_variables(module_);
        for (const LoweredKernel& kernel : result_.kernels)
            if (kernel.shape == BlockShape::Loop)
                lower_shared_atomics(*module_.getFunction(kernel.entry_symbol));
        for (Function& function : module_)
            if (!function.isDeclaration())
                lower_masked_memory(function,
                                    optimizer_.functions().getResult<TargetIRAnalysis>(function));
        list_globals();
        StripDebugInfo(module_);
        if (core::env_flag("TRILANE_DUMP_IR")) module_.print(errs(), nullptr);
        std::string why;
        raw_string_ostream stream(why);
        bool broken = verifyModule(module_, &stream);
        TRILANE_CHECK(!broken, "lowering gave invalid IR: {}", why);
    }

    // Atomic operations on shared arrays, while these can be told from other memory.
    static void mark_shared_atomics(Function& kernel) {
        constexpr unsigned kSharedSpace = 3;
        for (Instruction& instruction : instructions(kernel)) {
            if (!isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) continue;
            const auto* array =
                dyn_cast<GlobalVariable>(getUnderlyingObject(instruction.getOperand(0)));
            if (array != nullptr && array->getAddressSpace() == kSharedSpace)
                instruction.setMetadata(kBlockMemoryMark, MDNode::get(kernel.getContext(), {}));
        }
    }

    // One thread of the machine runs all threads of a block, and nobody else sees its shared
    // memory. Last of all: before, they must look like what lanes cannot do at the same time.
    static void lower_shared_atomics(Function& function) {
        for (BasicBlock& block : function) {
            for (Instruction& instruction : make_early_inc_range(block)) {
                if (!instruction.hasMetadata(kBlockMemoryMark)) continue;
                if (auto* update = dyn_cast<AtomicRMWInst>(&instruction))
                    lowerAtomicRMWInst(update);
                else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
                    lowerAtomicCmpXchgInst(exchange);
            }
        }
    }

    // Host code reads and writes these: nothing may be folded into the code, and no page is
    // read-only.
    void list_globals() {
        const DataLayout& data = module_.getDataLayout();
        for (GlobalVariable& variable : module_.globals()) {
            if (variable.getAddressSpace() == 3 || variable.isDeclaration()) continue;
            if (variable.getName().starts_with("llvm.") || variable.hasPrivateLinkage()) continue;
            if (!variable.isExternallyInitialized()) continue;
            variable.setConstant(false);
            variable.setLinkage(GlobalValue::ExternalLinkage);
            variable.setVisibility(GlobalValue::DefaultVisibility);
            variable.setDSOLocal(true);
            variable.setComdat(nullptr);
            result_.globals.push_back(
                {variable.getName().str(), data.getTypeAllocSize(variable.getValueType())});
        }
    }

    FrontEndResult& front_;
    int lanes_;
    Module& module_;
    Optimizer optimizer_;
    std::vector<Function*> outlined_;
    std::vector<std::pair<Function*, size_t>> coroutines_;  // start function, index of the kernel
    LoweredModule result_;
};

// How each kernel runs, one line each on standard error: TRILANE_LOG_LANES.
void log_lanes(const LoweredModule& module) {
    for (const LoweredKernel& kernel : module.kernels) {
        errs() << "trilane: lanes: " << kernel.description.name
               << (kernel.shape == BlockShape::Coroutine ? " coroutine " : " loop ") << kernel.lanes
               << '\n';
        if (kernel.rounds > 0)
            errs() << "trilane: rounds: " << kernel.description.name << ' ' << kernel.rounds
                   << '\n';
    }
}

}  // namespace

LowerTimes last_lower_times() {
    std::lock_guard lock(last_times_mutex);
    return last_times;
}

LoweredModule lower(FrontEndResult front_end, int lanes) {
    times = {};
    LoweredModule module = Lowering(front_end, lanes).run();
    if (core::env_flag("TRILANE_LOG_LANES")) log_lanes(module);
    std::lock_guard lock(last_times_mutex);
    last_times = times;
    return module;
}

}  // namespace trilane::cpu
