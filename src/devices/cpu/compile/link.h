// Linking on the cpu device: objects of -dc become one module, as if they had been one text.
#pragma once

#include <span>

#include "devices/cpu/compile/front_end.h"

namespace trilane::cpu {

// The result is what run_front_end() gives for a program without -dc. InvalidArgument with the
// linker's log as detail, one line per fault in nvlink's words, if a name is defined twice,
// nowhere, or not as it was declared; NotSupported for code of NVIDIA's compilers and other files.
FrontEndResult link_objects(std::span<const core::LinkInput> inputs, bool check);

// "a cubin", "PTX" ...: what the bytes are, by their first ones; empty if that cannot be told.
const char* foreign_code(std::string_view bytes);

}  // namespace trilane::cpu
