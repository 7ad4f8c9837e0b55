// The headers that array kernels include (device_lib/include/trilane), held in the library so that
// every device's compiler finds them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/program.h"

namespace trilane::array {

struct EmbeddedFile {
    std::string_view name;  // "trilane/array_ops.h"
    std::string_view text;
};
std::span<const EmbeddedFile> embedded_files();

const std::vector<core::Header>& array_device_headers();

}  // namespace trilane::array
