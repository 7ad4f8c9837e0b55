// What can be told of an image without the driver: its form, whether it is whole, and the symbols
// in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trilane::cuda {

enum class ImageForm : unsigned char { Cubin, Ptx, Fatbin, Unknown };

ImageForm form_of(std::string_view bytes);

// Why the driver must not be given it, which crashes on some damaged files; empty if nothing is
// seen. Reads nothing outside `bytes`.
std::string damage_of(std::string_view bytes);

// Whether it is an ELF file of another machine: nvcc's objects for the host, with code inside.
bool is_host_object(std::string_view bytes);
// Whether it is a cubin that must be linked before it can run.
bool is_relocatable(std::string_view bytes);

// Names that start with `prefix`, of a cubin or PTX; none of other forms.
std::vector<std::string> symbols_with_prefix(std::string_view bytes, std::string_view prefix);
// Names of the kernels of a cubin or PTX.
std::vector<std::string> kernel_names(std::string_view bytes);

}  // namespace trilane::cuda
