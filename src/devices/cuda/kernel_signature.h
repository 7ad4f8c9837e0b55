// The parameters of kernels, carried inside images.
//
// The driver knows sizes and offsets of parameters, not types: it cannot tell a pointer from an
// integer of 8 bytes. The types of a C++ kernel stand in its mangled name. A kernel with a C name
// has none; for each of those a variable of one byte is added to the program, whose mangled name
// holds the type of the kernel and the names of kernel and parameters:
// trilane_signatures::kernel<void (float*, int), tag::scale, tag::a, tag::n>. So macros, typedefs
// and templates are resolved by the compiler itself, and the cubin stays a plain cubin.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "devices/cuda/kernel_source.h"

namespace trilane::cuda {

// What every symbol of ours starts with.
constexpr std::string_view kSignaturePrefix = "_ZN18trilane_signatures";
constexpr std::string_view kSignatureNamespace = "trilane_signatures";

// The text to add at the end of a program.
std::string signature_text(const std::vector<SourceKernel>& kernels);
// The name expression that makes the compiler keep the variable of one kernel.
std::string signature_expression(const SourceKernel& kernel);

struct KernelSignature {
    std::string kernel;
    std::vector<core::Parameter> parameters;  // size 0 where only the driver knows it
};

std::optional<KernelSignature> read_signature(const std::string& symbol);
// Of a kernel by its own mangled name; nullopt for a C name.
std::optional<KernelSignature> signature_of_mangled(const std::string& symbol);

}  // namespace trilane::cuda
