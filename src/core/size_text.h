// Sizes of memory as people read them in errors.
#pragma once

#include <cstddef>
#include <string>

namespace trilane::core {

// "512 bytes", "19.5 KiB", "3.0 TiB": exact where that is short.
std::string size_text(size_t nbytes);

}  // namespace trilane::core
