// The machine that code is generated for: this one, or what TRILANE_CPU_FEATURES (avx2, sse2; read
// at each compile) leaves of it.
#pragma once

#include <string>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace trilane::cpu {

const std::string& host_cpu();       // "znver4"
const std::string& host_features();  // "+avx2,-sse4a,..."
// Lanes of 32-bit values that suit this machine.
unsigned preferred_lanes();
std::string host_model();  // "AMD EPYC 9xx5", for names shown to people
// Of the calling thread until it ends.
llvm::TargetMachine& target_machine();

// Triple, layout and function attributes of this machine.
void set_target(llvm::Module& module);

// ELF object of the module.
std::string generate_object(llvm::Module& module);

}  // namespace trilane::cpu
