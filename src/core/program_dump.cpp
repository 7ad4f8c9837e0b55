// Writes programs as they go to the compiler.
#include "core/program_dump.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/disk_cache.h"
#include "core/env.h"
#include "core/error.h"

namespace trilane::core {
namespace {

std::string json_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += {'\\', c};
        else if (static_cast<unsigned char>(c) < 0x20)
            result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            result += c;
    }
    return result += '"';
}

std::string json_list(const std::vector<std::string>& texts) {
    std::string result = "[";
    for (const std::string& text : texts)
        result += (result.size() > 1 ? ", " : "") + json_string(text);
    return result += "]";
}

// Programs share their headers: each text is kept once.
std::string header_file(const Header& header) { return hash_hex(header.text) + ".h"; }

std::string description(const Program& program) {
    std::string headers = "{";
    for (const Header& header : program.headers)
        headers += fmt::format("{}\n    {}: {}", headers.size() > 1 ? "," : "",
                               json_string(header.name), json_string(header_file(header)));
    headers += "}";
    return fmt::format(
        "{{\n  \"file_name\": {},\n  \"options\": {},\n  \"name_expressions\": {},\n"
        "  \"headers\": {}\n}}\n",
        json_string(program.file_name), json_list(program.options),
        json_list(program.name_expressions), headers);
}

// Whole or not at all: several processes may write the same program.
bool write_file(const std::filesystem::path& path, std::string_view text) {
    static std::atomic<unsigned> serial{0};
    std::error_code error;
    if (std::filesystem::exists(path, error)) return true;
    std::filesystem::path work = path;
    work += fmt::format(".{}-{}", ::getpid(), serial.fetch_add(1));
    {
        std::ofstream file(work, std::ios::binary);
        file.write(text.data(), static_cast<std::streamsize>(text.size()));
        if (!file.good()) return false;
    }
    std::filesystem::rename(work, path, error);
    return !error;
}

}  // namespace

void dump_program(const Program& program, const std::string& key) {
    const auto folder = env_string("TRILANE_DUMP");
    if (!folder || folder->empty()) return;
    const std::filesystem::path base(*folder);
    std::error_code ignored;
    std::filesystem::create_directories(base, ignored);
    bool good = write_file(base / (key + ".cu"), program.source);
    for (const Header& header : program.headers)
        good = good && write_file(base / header_file(header), header.text);
    if (good && write_file(base / (key + ".json"), description(program))) return;
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
        std::fprintf(stderr, "TRILANE_DUMP: %s cannot be written\n", folder->c_str());
}

}  // namespace trilane::core
