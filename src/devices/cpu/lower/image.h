// A lowered module as the bytes of an Image and back.
#pragma once

#include <string>

#include "devices/cpu/lower/lower.h"

namespace trilane::cpu {

// Raised with every change of the encoding, of run/block_context.h, or of the runtime's symbols.
inline constexpr uint32_t kImageVersion = 7;

std::string encode_module(const LoweredModule& module);
// InvalidArgument for anything that is not such an image, of another version, or cut off. The
// object itself is not looked into: images are as trusted as code.
LoweredModule decode_module(const std::string& bytes);

}  // namespace trilane::cpu
