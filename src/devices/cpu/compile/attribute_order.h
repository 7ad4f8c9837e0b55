// Attributes of declarations in the order that clang wants: nvcc takes `__shared__ alignas(16)` and
// `__shared__ [[maybe_unused]]`, clang takes a standard attribute before CUDA's only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trilane::cpu {

// The text with standard attributes before those of CUDA where a declaration begins with the
// latter; lines and lengths stay. Nothing if the text stays as it is.
std::optional<std::string> order_attributes(std::string_view text);

}  // namespace trilane::cpu
