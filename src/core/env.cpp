// Environment variables, read once per name.
#include "core/env.h"

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>

#include "core/error.h"

namespace trilane::core {
namespace {

struct Table {
    std::mutex mutex;
    std::map<std::string, std::optional<std::string>, std::less<>> values;
};

// Never destroyed: destructors of other statics may still ask.
Table& table() {
    static Table* const instance = new Table;
    return *instance;
}

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

}  // namespace

std::optional<std::string> env_string(const char* name) {
    Table& t = table();
    std::lock_guard lock(t.mutex);
    if (auto found = t.values.find(name); found != t.values.end()) return found->second;
    const char* value = std::getenv(name);
    std::optional<std::string> result;
    if (value != nullptr) result = value;
    t.values.emplace(name, result);
    return result;
}

bool env_flag(const char* name) {
    const auto value = env_string(name);
    if (!value) return false;
    const std::string text = lower(*value);
    return !(text.empty() || text == "0" || text == "false" || text == "off" || text == "no");
}

long long env_int(const char* name, long long fallback) {
    const auto value = env_string(name);
    if (!value || value->empty()) return fallback;
    errno = 0;
    char* end = nullptr;
    const long long number = std::strtoll(value->c_str(), &end, 10);
    if (errno != 0 || *end != '\0' || end == value->c_str())
        throw_error(ErrorKind::InvalidArgument, "{}: bad value: got '{}', expected an integer",
                    name, *value);
    return number;
}

void reset_env_for_tests() {
    Table& t = table();
    std::lock_guard lock(t.mutex);
    t.values.clear();
}

}  // namespace trilane::core
