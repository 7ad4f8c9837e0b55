// The host as a code generation target.
#include "devices/cpu/lower/target.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <mutex>
#include <vector>

#include "core/env.h"
#include "core/error.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

void initialize_target_once() {
    static std::once_flag flag;
    std::call_once(flag, [] {
        InitializeNativeTarget();
        InitializeNativeTargetAsmPrinter();
        InitializeNativeTargetAsmParser();
        // The scheduler after register allocation takes a third of the time for large blocks; the
        // processors that this device knows reorder by themselves.
        const char* options[] = {"trilane", "-post-RA-scheduler=false"};
        cl::ParseCommandLineOptions(int(std::size(options)), options);
    });
}

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

std::unique_ptr<TargetMachine> make_target_machine() {
    initialize_target_once();
    std::string why;
    const Target* target = TargetRegistry::lookupTarget(kTriple, why);
    TRILANE_CHECK(target != nullptr, "no code generator for {}: {}", kTriple, why);
    TargetOptions options;
    options.AllowFPOpFusion = FPOpFusion::Strict;  // contraction was decided by the front end
    options.UnsafeFPMath = false;
    std::unique_ptr<TargetMachine> machine(
        target->createTargetMachine(kTriple, host_cpu(), host_features(), options, Reloc::PIC_,
                                    CodeModel::Small, CodeGenOptLevel::Default, true));
    TRILANE_CHECK(machine != nullptr, "the code generator for {} could not be made", kTriple);
    return machine;
}

}  // namespace

namespace {

// The features that TRILANE_CPU_FEATURES leaves.
enum class Restriction { None, Avx2, Sse2 };
constexpr size_t kRestrictions = 3;

Restriction restriction() {
    const std::string asked = core::env_string("TRILANE_CPU_FEATURES").value_or("");
    if (asked.empty()) return Restriction::None;
    if (asked == "avx2") return Restriction::Avx2;
    if (asked == "sse2") return Restriction::Sse2;
    core::throw_error(core::ErrorKind::InvalidArgument,
                      "TRILANE_CPU_FEATURES: got '{}', expected avx2, sse2 or nothing", asked);
}

// Everything after AVX2, or after SSE2 and what every x86-64 processor has.
bool is_left(StringRef feature, Restriction by) {
    static const std::array<StringRef, 7> plain{"64bit", "cmov", "cx8", "fxsr",
                                                "mmx",   "sse",  "sse2"};
    if (by == Restriction::Sse2) return is_contained(plain, feature);
    if (by == Restriction::Avx2)
        return !feature.starts_with("avx512") && !feature.starts_with("avx10") &&
               !feature.starts_with("amx") && feature != "evex512";
    return true;
}

std::string features_left(Restriction by) {
    std::vector<std::string> parts;
    for (const auto& feature : sys::getHostCPUFeatures())
        parts.push_back((feature.second && is_left(feature.first(), by) ? "+" : "-") +
                        feature.first().str());
    std::sort(parts.begin(), parts.end());
    return join(parts, ",");
}

}  // namespace

const std::string& host_cpu() {
    static const std::array<std::string, kRestrictions> cpus{sys::getHostCPUName().str(),
                                                             "x86-64-v3", "x86-64"};
    return cpus[size_t(restriction())];
}

const std::string& host_features() {
    static const std::array<std::string, kRestrictions> features{features_left(Restriction::None),
                                                                 features_left(Restriction::Avx2),
                                                                 features_left(Restriction::Sse2)};
    return features[size_t(restriction())];
}

namespace {

bool has_feature(const char* feature) {
    return ("," + host_features() + ",").find(std::string(",+") + feature + ",") !=
           std::string::npos;
}

}  // namespace

unsigned preferred_lanes() {
    if (has_feature("avx512f") || has_feature("avx2")) return 16;
    return has_feature("fma") ? 8 : 4;
}

std::string host_model() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        if (line.rfind("model name", 0) != 0) continue;
        size_t colon = line.find(':');
        if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
    }
    return host_cpu();
}

namespace {

// Compiles run on threads of their own, and a machine that has seen the processor's features is
// worth some milliseconds: machines outlive their threads.
class Machines {
  public:
    static Machines& get(Restriction by) {
        static auto* machines = new std::array<Machines, kRestrictions>;
        return (*machines)[size_t(by)];
    }
    std::unique_ptr<TargetMachine> take() {
        {
            std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<TargetMachine> machine = std::move(idle_.back());
                idle_.pop_back();
                return machine;
            }
        }
        return make_target_machine();
    }
    void give_back(std::unique_ptr<TargetMachine> machine) {
        std::lock_guard lock(mutex_);
        idle_.push_back(std::move(machine));
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<TargetMachine>> idle_;
};

struct ThreadMachines {
    std::array<std::unique_ptr<TargetMachine>, kRestrictions> machines;
    ~ThreadMachines() {
        for (size_t by = 0; by < kRestrictions; ++by)
            if (machines[by]) Machines::get(Restriction(by)).give_back(std::move(machines[by]));
    }
};

}  // namespace

TargetMachine& target_machine() {
    static thread_local ThreadMachines holder;
    const Restriction by = restriction();
    std::unique_ptr<TargetMachine>& machine = holder.machines[size_t(by)];
    if (!machine) machine = Machines::get(by).take();
    return *machine;
}

void set_target(Module& module) {
    module.setTargetTriple(kTriple);
    module.setDataLayout(target_machine().createDataLayout());
    for (Function& function : module) {
        if (function.isDeclaration()) continue;
        function.removeFnAttr("target-cpu");
        function.removeFnAttr("target-features");
        function.removeFnAttr("tune-cpu");
        function.addFnAttr("target-cpu", host_cpu());
        function.addFnAttr("target-features", host_features());
        if (has_feature("avx512f")) {
            function.addFnAttr("prefer-vector-width", "512");
            function.addFnAttr("min-legal-vector-width", "512");
        }
    }
}

std::string generate_object(Module& module) {
    SmallVector<char, 0> buffer;
    raw_svector_ostream stream(buffer);
    legacy::PassManager passes;
    TargetMachine& machine = target_machine();
    bool refused = machine.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile,
                                               /*DisableVerify=*/true);
    TRILANE_CHECK(!refused, "the code generator cannot write objects");
    passes.run(module);
    return std::string(buffer.data(), buffer.size());
}

}  // namespace trilane::cpu
