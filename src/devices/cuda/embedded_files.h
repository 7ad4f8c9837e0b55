// The headers of ours that NVRTC is given with each program that includes them, held in the
// library.
#pragma once

#include <span>
#include <string_view>

namespace trilane::cuda {

struct EmbeddedFile {
    std::string_view name;  // as in #include: "cstdint", "trilane/complex.h"
    std::string_view text;
};

namespace include_folder {  // device_lib/include
std::span<const EmbeddedFile> embedded_files();
}
namespace nvrtc_folder {  // device_lib/nvrtc, which comes first
std::span<const EmbeddedFile> embedded_files();
}

}  // namespace trilane::cuda
