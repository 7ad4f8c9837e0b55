// CUDA C++ text -> cubin, by NVRTC. Needs no GPU and no driver: it is given the architecture.
#pragma once

#include <string>

#include "core/image.h"
#include "core/program.h"
#include "devices/cuda/nvrtc_table.h"

namespace trilane::cuda {

class Compiler {
  public:
    // `arch` of the device: 90 is sm_90. NotSupported if there is no NVRTC; it is opened when the
    // first program is compiled.
    Compiler(int driver_major, int arch);

    // Everything besides the program that decides what compile() gives.
    std::string id() const;
    std::string name() const;  // "NVRTC 13.0"; opens it
    const std::string& path() const { return file_.path; }
    // A cubin for the architecture; PTX if NVRTC knows none so new, or the program asks for an
    // older one. With -rdc=true and what needs it the format is "relocatable", with -dc "object":
    // code that must be linked yet. CompileError with the log. Any number of threads.
    core::Image compile(const core::Program& program) const;

  private:
    std::string target(const NvrtcTable& nvrtc, const std::string& asked) const;
    NvrtcFile file_;
    int arch_;
};

}  // namespace trilane::cuda
