// Arguments of kernels: the rules of what may be given for which parameter, and the messages.
#include "core/pack.h"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/half.h"

namespace trilane::core {
namespace {

const char* plain_name(ArgumentKind kind) {
    switch (kind) {
        case ArgumentKind::Pointer:
            return "an array";
        case ArgumentKind::Int:
            return "int";
        case ArgumentKind::UInt:
            return "unsigned int";
        case ArgumentKind::Float:
            return "float";
        case ArgumentKind::Bool:
            return "bool";
        case ArgumentKind::Bytes:
            return "bytes";
    }
    return "something unknown";
}

std::string describe(const Argument& given) {
    std::string text = given.given != nullptr ? given.given : plain_name(given.kind);
    switch (given.kind) {
        case ArgumentKind::Int:
            text += fmt::format(" {}", given.integer);
            break;
        case ArgumentKind::UInt:
            text += fmt::format(" {}", given.bits);
            break;
        case ArgumentKind::Float:
            text += fmt::format(" {}", given.number);
            break;
        case ArgumentKind::Bool:
            text += given.bits != 0 ? " True" : " False";
            break;
        case ArgumentKind::Bytes:
            text += fmt::format(" of {} bytes", given.nbytes);
            break;
        case ArgumentKind::Pointer:
            break;
    }
    return text;
}

std::string expected(const Parameter& p) {
    switch (p.kind) {
        case ParameterKind::Int:
        case ParameterKind::UInt:
            return fmt::format("numpy.{}int{} or a Python int that fits",
                               p.kind == ParameterKind::UInt ? "u" : "", p.size * 8);
        case ParameterKind::Float:
            return fmt::format("numpy.float{} or a Python float", p.size * 8);
        case ParameterKind::Bool:
            return "a bool";
        case ParameterKind::Pointer:
            return "a device array or an address";
        case ParameterKind::Struct:
        case ParameterKind::Unknown:
            return fmt::format("a value of exactly {} bytes", p.size);
    }
    return "something else";
}

std::string parameter_text(const Parameter& p, size_t index) {
    std::string text = fmt::format("argument {}", index + 1);
    if (!p.name.empty()) text += fmt::format(" '{}'", p.name);
    if (!p.c_type.empty()) text += fmt::format(" ({})", p.c_type);
    return text;
}

[[noreturn]] void mismatch(const FunctionInfo& info, size_t index, const Argument& given,
                           const char* what) {
    const Parameter& p = info.parameters[index];
    throw_error(ErrorKind::TypeMismatch, "launch of {}: {} of {}: got {}, expected {}: {}",
                info.name, what, parameter_text(p, index), describe(given), expected(p),
                signature(info));
}

// Whether an integer, given as value and sign, fits `size` bytes of a parameter's kind.
bool fits(bool negative, uint64_t bits, ParameterKind kind, uint32_t size) {
    if (size >= 8) {
        if (kind == ParameterKind::UInt || kind == ParameterKind::Pointer) return !negative;
        return negative || bits <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    }
    const uint32_t width = size * 8;
    if (kind == ParameterKind::UInt) return !negative && bits >> width == 0;
    if (negative) return static_cast<int64_t>(bits) >= -(int64_t{1} << (width - 1));
    return bits >> (width - 1) == 0;
}

bool exact_in_float(bool negative, uint64_t bits, uint32_t size) {
    const double value =
        negative ? static_cast<double>(static_cast<int64_t>(bits)) : static_cast<double>(bits);
    const uint64_t magnitude = negative ? 0 - bits : bits;
    const int digits = size == 8 ? 53 : size == 4 ? 24 : 11;
    if (magnitude == 0) return true;
    const int used = 64 - std::countl_zero(magnitude) - std::countr_zero(magnitude);
    return used <= digits && (size != 2 || std::fabs(value) <= 65504.0);
}

void put_float(PackedValue& place, double value, uint32_t size) {
    if (size == 8) {
        std::memcpy(place.bytes, &value, 8);
    } else if (size == 4) {
        const auto narrow = static_cast<float>(value);
        std::memcpy(place.bytes, &narrow, 4);
    } else {
        const uint16_t half = half_bits(value);
        std::memcpy(place.bytes, &half, 2);
    }
}

bool is_half(const Parameter& p) {
    if (p.size != 2) return false;
    if (p.kind == ParameterKind::Float) return true;
    return p.kind == ParameterKind::Struct && p.c_type.find("half") != std::string::npos;
}

void pack_integer(const FunctionInfo& info, size_t index, const Argument& given,
                  PackedValue& place) {
    const Parameter& p = info.parameters[index];
    const bool negative = given.kind == ArgumentKind::Int && given.integer < 0;
    const uint64_t bits = given.kind == ArgumentKind::Bool ? (given.bits != 0) : given.bits;
    switch (p.kind) {
        case ParameterKind::Pointer:
            if (given.kind == ArgumentKind::Bool) mismatch(info, index, given, "wrong type");
            [[fallthrough]];
        case ParameterKind::Int:
        case ParameterKind::UInt:
            if (given.size != 0 && given.size != p.size) mismatch(info, index, given, "wrong size");
            if (given.size == 0 && !fits(negative, bits, p.kind, p.size))
                mismatch(info, index, given, "value out of range");
            std::memcpy(place.bytes, &bits, 8);
            std::memset(place.bytes + 8, negative ? 0xff : 0, 8);  // of __int128
            return;
        case ParameterKind::Bool:
            if (given.size > 1 || bits > 1) mismatch(info, index, given, "wrong type");
            place.bytes[0] = static_cast<unsigned char>(bits);
            return;
        case ParameterKind::Float:
        case ParameterKind::Struct:
        case ParameterKind::Unknown:
            if (given.size != 0 || !(p.kind == ParameterKind::Float || is_half(p)))
                mismatch(info, index, given, "wrong type");
            if (!exact_in_float(negative, bits, p.size))
                mismatch(info, index, given, "value not exact in the type");
            put_float(place,
                      negative ? static_cast<double>(given.integer) : static_cast<double>(bits),
                      p.size);
            return;
    }
}

void pack_unknown(const FunctionInfo& info, size_t index, const Argument& given,
                  PackedValue& place) {
    const Parameter& p = info.parameters[index];
    const bool number = given.kind == ArgumentKind::Int || given.kind == ArgumentKind::UInt;
    const bool negative = given.kind == ArgumentKind::Int && given.integer < 0;
    switch (given.kind) {
        case ArgumentKind::Pointer:
            if (p.size != 8) mismatch(info, index, given, "wrong size");
            std::memcpy(place.bytes, &given.bits, 8);
            return;
        case ArgumentKind::Bool:
        case ArgumentKind::Int:
        case ArgumentKind::UInt:
            if (given.size != 0 && given.size != p.size) mismatch(info, index, given, "wrong size");
            if (p.size > 16) mismatch(info, index, given, "wrong size");
            if (number && given.size == 0 &&
                !fits(negative, given.bits, ParameterKind::Int, p.size) &&
                !fits(negative, given.bits, ParameterKind::UInt, p.size))
                mismatch(info, index, given, "value out of range");
            std::memcpy(place.bytes, &given.bits, 8);
            std::memset(place.bytes + 8, negative ? 0xff : 0, 8);
            return;
        case ArgumentKind::Float:
            if (p.size != 2 && p.size != 4 && p.size != 8)
                mismatch(info, index, given, "wrong size");
            if (given.size != 0 && given.size != p.size) mismatch(info, index, given, "wrong size");
            return put_float(place, given.number, p.size);
        case ArgumentKind::Bytes:
            break;
    }
    mismatch(info, index, given, "wrong type");
}

void pack_float(const FunctionInfo& info, size_t index, const Argument& given, PackedValue& place) {
    const Parameter& p = info.parameters[index];
    if (p.kind == ParameterKind::Float || is_half(p)) {
        if (given.size != 0 && given.size != p.size) mismatch(info, index, given, "wrong size");
        return put_float(place, given.number, p.size);
    }
    const bool whole = given.size == 0 && std::trunc(given.number) == given.number &&
                       std::fabs(given.number) < 9223372036854775808.0;
    if (!whole || (p.kind != ParameterKind::Int && p.kind != ParameterKind::UInt))
        mismatch(info, index, given, "wrong type");
    const auto integer = static_cast<int64_t>(given.number);
    if (!fits(integer < 0, static_cast<uint64_t>(integer), p.kind, p.size))
        mismatch(info, index, given, "value out of range");
    std::memcpy(place.bytes, &integer, 8);
}

}  // namespace

void* pack_argument(const FunctionInfo& info, size_t index, const Argument& given,
                    PackedValue& place) {
    const Parameter& p = info.parameters[index];
    if (p.kind == ParameterKind::Unknown && given.kind != ArgumentKind::Bytes) [[unlikely]] {
        pack_unknown(info, index, given, place);
        return place.bytes;
    }
    switch (given.kind) {
        case ArgumentKind::Pointer: {
            const bool integer = p.kind == ParameterKind::Int || p.kind == ParameterKind::UInt;
            if (p.kind != ParameterKind::Pointer && !(integer && p.size == 8))
                mismatch(info, index, given, "wrong type");
            std::memcpy(place.bytes, &given.bits, 8);
            return place.bytes;
        }
        case ArgumentKind::Int:
        case ArgumentKind::UInt:
        case ArgumentKind::Bool:
            pack_integer(info, index, given, place);
            return place.bytes;
        case ArgumentKind::Float:
            pack_float(info, index, given, place);
            return place.bytes;
        case ArgumentKind::Bytes:
            if (p.kind != ParameterKind::Struct && p.kind != ParameterKind::Unknown)
                mismatch(info, index, given, "wrong type");
            if (given.nbytes != p.size) mismatch(info, index, given, "wrong size");
            return const_cast<void*>(given.bytes);
    }
    mismatch(info, index, given, "unknown kind");
}

void* pack_unchecked(const FunctionInfo& info, size_t index, const Argument& given,
                     PackedValue& place) {
    switch (given.kind) {
        case ArgumentKind::Bytes:
            return const_cast<void*>(given.bytes);
        case ArgumentKind::Float:
            if (given.size != 0 && given.size != 2 && given.size != 4 && given.size != 8)
                throw_error(ErrorKind::TypeMismatch,
                            "launch of {}: wrong size of argument {}: got {}, expected a float of "
                            "2, 4 or 8 bytes",
                            info.name, index + 1, describe(given));
            put_float(place, given.number, given.size == 0 ? 8 : given.size);
            return place.bytes;
        default:
            std::memcpy(place.bytes, &given.bits, 8);
            return place.bytes;
    }
}

void throw_argument_count(const FunctionInfo& info, std::span<const Argument> given) {
    const size_t wanted = info.parameters.size();
    std::string which;
    if (given.size() < wanted)
        which = fmt::format("{} is missing",
                            parameter_text(info.parameters[given.size()], given.size()));
    else
        which = fmt::format("the first too many is {}", describe(given[wanted]));
    throw_error(ErrorKind::TypeMismatch,
                "launch of {}: wrong number of arguments: got {}, expected {}: {}: {}", info.name,
                given.size(), wanted, which, signature(info));
}

std::string signature(const FunctionInfo& info) {
    std::string text = info.name + "(";
    if (!info.parameters_known) return text + "...)";
    for (size_t i = 0; i < info.parameters.size(); ++i) {
        const Parameter& p = info.parameters[i];
        if (i != 0) text += ", ";
        text += p.c_type.empty() ? fmt::format("<{} bytes>", p.size) : p.c_type;
        if (p.name.empty()) continue;
        const char last = p.c_type.empty() ? ' ' : p.c_type.back();
        text += (last == '*' || last == '&' ? "" : " ") + p.name;
    }
    return text + ")";
}

}  // namespace trilane::core
