// Environment variables, read once per name; all start with TRILANE_.
#pragma once

#include <optional>
#include <string>

namespace trilane::core {

std::optional<std::string> env_string(const char* name);
bool env_flag(const char* name);  // set and not "", "0", "false", "off", "no"
long long env_int(const char* name, long long fallback);  // throws InvalidArgument on nonsense

void reset_env_for_tests();  // forgets what was read

}  // namespace trilane::core
