// Following #include lines.
#include "devices/cuda/compile_inputs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "devices/cuda/embedded_files.h"
#include "devices/cuda/kernel_source.h"

namespace trilane::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrelude = "trilane_prelude.h", kBuiltins = "trilane_builtins.h";

const EmbeddedFile* find_in(std::span<const EmbeddedFile> files, std::string_view name) {
    for (const EmbeddedFile& file : files)
        if (file.name == name) return &file;
    return nullptr;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Visits where `word` stands by itself.
bool any_word(const std::string& text, std::string_view word,
              const std::function<bool(size_t)>& test) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const size_t end = at + word.size();
        if (at > 0 && is_word(text[at - 1])) continue;
        if (end < text.size() && is_word(text[end])) continue;
        if (test(at)) return true;
    }
    return false;
}

bool has_word(const std::string& text, std::string_view word) {
    return any_word(text, word, [](size_t) { return true; });
}

constexpr std::string_view kIntegers[] = {
    "int8_t",   "int16_t",  "int32_t",   "int64_t", "uint8_t", "uint16_t", "uint32_t",
    "uint64_t", "intptr_t", "uintptr_t", "uint",    "ulong",   "ushort"};

// "typedef long long int64_t;" or "using uint = unsigned;"
bool declares_integers(const std::string& text) {
    for (const std::string_view word : kIntegers) {
        const bool declared = any_word(text, word, [&](size_t at) {
            const size_t end = at + word.size();
            const size_t start = text.find_last_of(";{}", at);
            const std::string before =
                text.substr(start == std::string::npos ? 0 : start, at - start);
            const size_t next = text.find_first_not_of(" \t\n", end);
            if (next == std::string::npos) return false;
            return (text[next] == ';' && has_word(before, "typedef")) ||
                   (text[next] == '=' && has_word(before, "using"));
        });
        if (declared) return true;
    }
    return false;
}

// What NVRTC does not know and nvcc does.
bool needs_prelude(const std::string& text) {
    for (const std::string_view piece : {"_MAX", "_MIN", "_EPSILON", "CHAR_BIT", "_DIG", "std::"})
        if (text.find(piece) != std::string::npos) return true;
    for (const std::string_view word : {"memmove", "memcmp", "strlen", "strcmp", "strcpy",
                                        "strncmp", "isnormal", "offsetof", "pow"})
        if (has_word(text, word)) return true;
    return std::any_of(std::begin(kIntegers), std::end(kIntegers),
                       [&](std::string_view word) { return has_word(text, word); });
}

std::string beside(const std::string& includer, const std::string& name) {
    return (fs::path(includer).parent_path() / name).lexically_normal().generic_string();
}

struct Walk {
    const core::Program& program;
    const std::vector<std::string>& dirs;
    CompileInputs out;
    std::set<std::string> seen;  // headers and files by their keys
    bool prelude = false;        // one of our headers needs it

    void text(const std::string& text, const std::string& from) {
        out.all_text += text;
        out.all_text += '\n';
        for (const std::string& name : find_includes(text)) include(name, from);
    }

    bool is_own(const std::string& name) const {
        return std::any_of(program.headers.begin(), program.headers.end(),
                           [&](const core::Header& known) { return known.name == name; });
    }

    // A header in memory: the program's own or one of ours.
    const char* find(const std::string& name) const {
        for (const core::Header& known : program.headers)
            if (known.name == name) return known.text.c_str();
        if (!is_served(name)) return nullptr;
        const EmbeddedFile* file = find_in(nvrtc_folder::embedded_files(), name);
        if (file == nullptr) file = find_in(include_folder::embedded_files(), name);
        return file == nullptr ? nullptr : file->text.data();
    }

    bool header(const std::string& name) {
        const char* found = find(name);
        if (found == nullptr) return false;
        if (!seen.insert("header " + name).second) return true;
        const std::string content = found;
        if (!is_own(name)) {
            prelude = true;
            if (name == "type_traits" || name == "limits") header(std::string(kBuiltins));
        }
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
        if (is_own(name)) {
            header(name);
            return;
        }
        for (const std::string& dir : dirs)
            if (file(fs::path(dir) / name)) return;
        if (!header(name)) out.includes_toolkit = true;
    }
};

}  // namespace

// Of our headers, what the toolkit has not, or what NVRTC cannot read of the system's. The rest of
// device_lib/include stands in for the toolkit's own headers on the cpu device.
bool is_served(std::string_view name) {
    for (const std::string_view folder : {"trilane", "cupy/", "pycuda-", "thrust/complex.h"})
        if (name.starts_with(folder)) return true;
    static constexpr std::string_view kStandard[] = {
        "algorithm", "array", "cassert", "cfloat", "climits", "cmath", "complex", "cstdarg",
        "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "ctime", "functional", "limits",
        "new", "tuple", "type_traits", "utility", "assert.h", "float.h", "limits.h", "math.h",
        "memory.h", "inttypes.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h",
        "stdlib.h", "string.h", "time.h", "sys/types.h",
        // The toolkit's declares functions of the host, which NVRTC refuses.
        "cuda.h"};
    return std::find(std::begin(kStandard), std::end(kStandard), name) != std::end(kStandard);
}

CompileInputs find_inputs(const core::Program& program,
                          const std::vector<std::string>& include_dirs) {
    Walk walk{program, include_dirs, {}, {}};
    walk.text(program.source, {});
    for (const core::Header& header : program.headers) walk.header(header.name);
    CompileInputs& out = walk.out;
    if (out.includes_toolkit) {  // whose headers include the system's
        const bool before = walk.prelude;
        for (const char* name : {"stdlib.h", "stddef.h", "stdint.h", "string.h", "limits.h",
                                 "stdio.h", "math.h", "float.h", "assert.h"})
            walk.header(name);
        walk.prelude = before;
        out.options.push_back("-diag-suppress=47");  // they define again what the prelude has
    }
    if (walk.prelude || needs_prelude(out.all_text)) {
        const bool own_integers = declares_integers(out.all_text);
        walk.header(std::string(kPrelude));
        out.options.push_back("--pre-include=" + std::string(kPrelude));
        if (own_integers) out.options.push_back("-DTRILANE_OWN_INTEGERS");
    }
    if (walk.seen.contains("header " + std::string(kBuiltins)))
        out.options.push_back("--pre-include=" + std::string(kBuiltins));
    return std::move(out);
}

}  // namespace trilane::cuda
