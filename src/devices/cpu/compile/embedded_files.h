// The files of device_lib/, held in the library: what kernels can include.
#pragma once

#include <span>
#include <string_view>

namespace trilane::cpu {

struct EmbeddedFile {
    std::string_view name;  // path below device_lib/: "cpu/prelude.h", "include/cuda_fp16.h"
    std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();

}  // namespace trilane::cpu
