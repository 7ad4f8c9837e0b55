// Following #include lines.
#include "devices/cuda/compile_inputs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "devices/cuda/embedded_files.h"
#include "devices/cuda/kernel_source.h"

namespace trilane::cuda {
namespace {

namespace fs = std::filesystem;

// Of device_lib/include, what is ours to give: the toolkit has no such file, or NVRTC cannot read
// the system's. The rest of that folder stands in for the toolkit's own headers on the cpu device.
bool is_served(std::string_view name) {
    if (name.starts_with("trilane/") || name.starts_with("cupy/") || name.starts_with("pycuda-") ||
        name.starts_with("thrust/"))
        return true;
    static constexpr std::string_view kStandard[] = {
        "algorithm",   "array",    "cassert",    "cfloat",    "climits",    "cmath",
        "complex",     "cstdarg",  "cstddef",    "cstdint",   "cstdio",     "cstdlib",
        "cstring",     "ctime",    "functional", "limits",    "new",        "tuple",
        "type_traits", "utility",  "assert.h",   "float.h",   "inttypes.h", "limits.h",
        "math.h",      "memory.h", "stdarg.h",   "stdbool.h", "stddef.h",   "stdint.h",
        "stdio.h",     "stdlib.h", "string.h",   "time.h",    "sys/types.h"};
    return std::find(std::begin(kStandard), std::end(kStandard), name) != std::end(kStandard);
}

const EmbeddedFile* find_embedded(std::string_view name) {
    if (!is_served(name)) return nullptr;
    for (const EmbeddedFile& file : embedded_files())
        if (file.name == name) return &file;
    return nullptr;
}

std::string beside(const std::string& includer, const std::string& name) {
    return (fs::path(includer).parent_path() / name).lexically_normal().generic_string();
}

struct Walk {
    const core::Program& program;
    const std::vector<std::string>& dirs;
    CompileInputs out;
    std::set<std::string> seen;  // headers and files by their keys

    void text(const std::string& text, const std::string& from) {
        out.all_text += text;
        out.all_text += '\n';
        for (const std::string& name : find_includes(text)) include(name, from);
    }

    // A header in memory: the program's own or one of ours.
    const char* find(const std::string& name) const {
        for (const core::Header& known : program.headers)
            if (known.name == name) return known.text.c_str();
        const EmbeddedFile* file = find_embedded(name);
        return file == nullptr ? nullptr : file->text.data();
    }

    bool header(const std::string& name) {
        const char* found = find(name);
        if (found == nullptr) return false;
        if (!seen.insert("header " + name).second) return true;
        const std::string content = found;
        out.headers.push_back({name, with_whole_names(content, name)});
        text(content, name);
        return true;
    }

    // NVRTC looks for headers in memory by the name as it is written, also from inside a header.
    std::string with_whole_names(std::string content, const std::string& from) const {
        for (const std::string& name : find_includes(content)) {
            const std::string whole = beside(from, name);
            if (whole == name || find(whole) == nullptr) continue;
            const std::string quoted = "\"" + name + "\"";
            for (size_t at = content.find(quoted); at != std::string::npos;
                 at = content.find(quoted, at + whole.size() + 2))
                content.replace(at, quoted.size(), "\"" + whole + "\"");
        }
        return content;
    }

    bool file(const fs::path& path) {
        std::error_code error;
        if (!fs::is_regular_file(path, error)) return false;
        const std::string key = fs::absolute(path, error).lexically_normal().string();
        if (!seen.insert("file " + key).second) return true;
        out.files[key];
        std::ifstream stream(key, std::ios::binary);
        text(std::string((std::istreambuf_iterator<char>(stream)), {}), key);
        return true;
    }

    void include(const std::string& name, const std::string& from) {
        if (from.starts_with('/') && file(fs::path(from).parent_path() / name)) return;
        if (!from.empty() && !from.starts_with('/') && header(beside(from, name))) return;
        const bool own = std::any_of(program.headers.begin(), program.headers.end(),
                                     [&](const core::Header& known) { return known.name == name; });
        if (own) {
            header(name);
            return;
        }
        for (const std::string& dir : dirs)
            if (file(fs::path(dir) / name)) return;
        if (!header(name)) out.includes_toolkit = true;
    }
};

}  // namespace

CompileInputs find_inputs(const core::Program& program,
                          const std::vector<std::string>& include_dirs) {
    Walk walk{program, include_dirs, {}, {}};
    walk.text(program.source, {});
    for (const core::Header& header : program.headers) walk.header(header.name);
    return std::move(walk.out);
}

}  // namespace trilane::cuda
