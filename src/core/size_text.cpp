// Choice of the unit.
#include "core/size_text.h"

#include <fmt/format.h>

namespace trilane::core {

std::string size_text(size_t nbytes) {
    if (nbytes < 10 * 1024) return fmt::format("{} bytes", nbytes);
    double value = static_cast<double>(nbytes);
    const char* unit = "";
    for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
        if (value < 1024) break;
        value /= 1024;
        unit = next;
    }
    return fmt::format("{:.1f} {}", value, unit);
}

}  // namespace trilane::core
