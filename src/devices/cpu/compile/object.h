// What -dc leaves behind on the cpu device: code that is linked with other such code before it is
// lowered. The bytes of an Image of format kObjectFormat.
#pragma once

#include <string>
#include <string_view>

#include "devices/cpu/compile/front_end.h"

namespace trilane::cpu {

inline constexpr const char* kObjectFormat = "cpu-relocatable";

std::string encode_object(const FrontEndResult& front);
bool is_object(std::string_view bytes);
// A module of `context`; the result has none of its own. InvalidArgument for an object of another
// version or cut off. The code itself is not looked into: objects are as trusted as code.
FrontEndResult decode_object(const std::string& bytes, const std::string& name,
                             llvm::LLVMContext& context);

}  // namespace trilane::cpu
