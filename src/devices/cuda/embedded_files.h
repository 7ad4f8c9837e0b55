// The files of device_lib/include, held in the library: those that NVRTC lacks are given to it with
// each program that includes them.
#pragma once

#include <span>
#include <string_view>

namespace trilane::cuda {

struct EmbeddedFile {
    std::string_view name;  // as in #include: "cstdint", "trilane/complex.h"
    std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();

}  // namespace trilane::cuda
