// A Program is CUDA C++ text with everything that decides what it compiles to. All levels end here.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trilane::core {

struct Header {
    std::string name;  // as it stands in #include "name"
    std::string text;
};

struct Program {
    std::string source;
    // What diagnostics call the file; "#line" inside the source overrides it.
    std::string file_name = "kernel.cu";
    // NVRTC's options as users write them: "-DN=4", "-I", "dir", "--std=c++17", "-fmad=false",
    // "--use_fast_math", "-lineinfo", "-G", "-rdc=true", "--maxrregcount=32". A device refuses an
    // option that it does not know with CompileError naming it, and ignores those without meaning.
    std::vector<std::string> options;
    std::vector<Header> headers;                // files that exist in memory only
    std::vector<std::string> name_expressions;  // "kernel<float, 3>": lowered names in Image
};

}  // namespace trilane::core
