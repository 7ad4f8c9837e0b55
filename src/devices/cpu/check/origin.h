// Where a pointer came from: the array or variable whose bounds an access must keep.
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "devices/cpu/check/report.h"
#include "devices/cpu/compile/front_end.h"

namespace trilane::cpu {

struct Origin {
    llvm::Value* base = nullptr;  // nullptr: unknown
    AccessSpace space = AccessSpace::Global;
    uint64_t size = 0;     // bytes, if the code knows them
    uint64_t align = 1;    // of the base, if the code knows it
    uint32_t element = 1;  // bytes per element
    std::string name;      // as in the source
    bool safe = false;     // needs no test: the compiler's own memory
};

class Origins {
  public:
    Origins(llvm::Module& module, const std::vector<KernelDescription>& kernels);
    Origin of(llvm::Value* pointer) const;

  private:
    Origin of_argument(llvm::Argument& argument) const;
    Origin of_load(llvm::LoadInst& load) const;
    Origin of_variable(llvm::GlobalVariable& variable) const;
    Origin of_local(llvm::AllocaInst& slot) const;

    const llvm::DataLayout& data_;
    llvm::StringMap<const KernelDescription*> kernels_;
};

struct SourcePlace {
    std::string file;
    unsigned line = 0;
};
// The innermost place in the user's text: code of the device library counts as its caller's.
SourcePlace place_of(const llvm::Instruction& instruction);

// "_ZZ4tilePfE5cache" -> "cache".
std::string source_name(llvm::StringRef symbol);

}  // namespace trilane::cpu
