// The formatter of kernels' printf.
#include "devices/cpu/run/print.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace trilane::cpu {

namespace {

constexpr int kWidthLimit = 4096;  // a kernel's bug must not ask for gigabytes

struct Directive {
    std::string flags;
    int width = -1, precision = -1;
    int size = 4;  // bytes of an integer
    bool narrow_char = false, narrow_short = false;
    char conversion = 0;
};

class Values {
  public:
    explicit Values(const void* values) : next_(static_cast<const char*>(values)) {}
    template <typename T>
    T take() {
        auto address = reinterpret_cast<uintptr_t>(next_);
        next_ += (sizeof(T) - address % sizeof(T)) % sizeof(T);
        T value;
        std::memcpy(&value, next_, sizeof(T));
        next_ += sizeof(T);
        ++taken_;
        return value;
    }
    int taken() const { return taken_; }

  private:
    const char* next_;
    int taken_ = 0;
};

int read_number(const char*& text) {
    int value = 0;
    while (*text >= '0' && *text <= '9') {
        value = std::min(value * 10 + (*text - '0'), kWidthLimit);
        ++text;
    }
    return value;
}

// After the '%'. False at the end of the text.
bool read_directive(const char*& text, Values& values, Directive& directive) {
    while (*text != 0 && std::strchr("-+ #0", *text) != nullptr) directive.flags += *text++;
    if (*text == '*') {
        directive.width = values.take<int32_t>();
        ++text;
        if (directive.width < 0) {
            directive.flags += '-';
            directive.width = -std::max(directive.width, -kWidthLimit);
        }
        directive.width = std::min(directive.width, kWidthLimit);
    } else if (*text >= '0' && *text <= '9') {
        directive.width = read_number(text);
    }
    if (*text == '.') {
        ++text;
        if (*text == '*') {
            directive.precision = std::min(values.take<int32_t>(), kWidthLimit);
            ++text;
        } else {
            directive.precision = read_number(text);
        }
    }
    for (; *text != 0 && std::strchr("hljztL", *text) != nullptr; ++text) {
        if (*text == 'h') {
            directive.narrow_char = directive.narrow_short;
            directive.narrow_short = true;
        } else if (*text != 'L') {
            directive.size = 8;
        }
    }
    directive.conversion = *text;
    if (*text == 0) return false;
    ++text;
    return true;
}

// One value by a directive that we put together: its conversion is one of a few letters.
template <typename T>
void append(std::string& out, const Directive& directive, const char* conversion, T value) {
    std::string format = "%" + directive.flags;
    if (directive.width >= 0) format += std::to_string(directive.width);
    if (directive.precision >= 0) format += "." + std::to_string(directive.precision);
    format += conversion;
    char small[128];
    int needed = std::snprintf(small, sizeof small, format.c_str(), value);
    if (needed < 0) return;
    if (size_t(needed) < sizeof small) {
        out.append(small, size_t(needed));
        return;
    }
    std::string large(size_t(needed) + 1, '\0');
    std::snprintf(large.data(), large.size(), format.c_str(), value);
    out.append(large.data(), size_t(needed));
}

void append_integer(std::string& out, const Directive& directive, Values& values) {
    bool is_signed = directive.conversion == 'd' || directive.conversion == 'i';
    uint64_t bits = directive.size == 8 ? values.take<uint64_t>() : values.take<uint32_t>();
    int width = directive.size == 8      ? 64
                : directive.narrow_char  ? 8
                : directive.narrow_short ? 16
                                         : 32;
    uint64_t cut = width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
    char conversion[] = {'l', 'l', directive.conversion, 0};
    if (is_signed) {
        auto value = static_cast<int64_t>(cut << (64 - width)) >> (64 - width);
        append(out, directive, conversion, static_cast<long long>(value));
    } else {
        append(out, directive, conversion, static_cast<unsigned long long>(cut));
    }
}

bool append_directive(std::string& out, const Directive& directive, Values& values) {
    switch (directive.conversion) {
        case 'd':
        case 'i':
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            append_integer(out, directive, values);
            return true;
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A': {
            char conversion[] = {directive.conversion, 0};
            append(out, directive, conversion, values.take<double>());
            return true;
        }
        case 'c':
            append(out, directive, "c", static_cast<int>(values.take<uint32_t>()));
            return true;
        case 's': {
            const char* text = values.take<const char*>();
            append(out, directive, "s", text != nullptr ? text : "(null)");
            return true;
        }
        case 'p':
            append(out, directive, "p", values.take<const void*>());
            return true;
        default:
            return false;
    }
}

}  // namespace

int format_device_text(std::string& out, const char* format, const void* buffer) {
    Values values(buffer);
    while (*format != 0) {
        const char* percent = std::strchr(format, '%');
        if (percent == nullptr) {
            out += format;
            break;
        }
        out.append(format, size_t(percent - format));
        format = percent + 1;
        if (*format == '%') {
            out += '%';
            ++format;
            continue;
        }
        Directive directive;
        if (!read_directive(format, values, directive)) break;
        if (!append_directive(out, directive, values)) {
            out += "[printf: %";
            out += directive.conversion;
            out += " is refused]";
            return -1;
        }
    }
    return values.taken();
}

}  // namespace trilane::cpu
