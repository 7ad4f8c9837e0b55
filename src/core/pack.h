// One kernel argument: checked against its parameter and laid out as the kernel expects it. Used by
// launch() alone.
#pragma once

#include <cstddef>
#include <span>

#include "core/launch.h"

namespace trilane::core {

struct PackedValue {
    alignas(16) unsigned char bytes[16];
};

// The bytes of the argument: in `place`, or where the user has them. TypeMismatch names the
// parameter, its C type and what was given.
void* pack_argument(const FunctionInfo& info, size_t index, const Argument& given,
                    PackedValue& place);
// For functions whose parameters only the device knows: numbers without a size are 8 bytes, bool 1.
void* pack_unchecked(const FunctionInfo& info, size_t index, const Argument& given,
                     PackedValue& place);
[[noreturn]] void throw_argument_count(const FunctionInfo& info, std::span<const Argument> given);

}  // namespace trilane::core
