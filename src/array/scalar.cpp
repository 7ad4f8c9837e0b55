// Scalars as bytes of any element type.
#include "array/scalar.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::DTypeKind;

Scalar Scalar::of_bool(bool value) { return of_int(value, DType::Bool); }

Scalar Scalar::of_int(int64_t value, DType dtype) {
    Scalar s;
    s.dtype = dtype;
    s.integer = value;
    s.number = static_cast<double>(value);
    return s;
}

Scalar Scalar::weak_int(int64_t value) {
    Scalar s = of_int(value, DType::Int64);
    s.type = ScalarType::WeakInt;
    return s;
}

Scalar Scalar::weak_float(double value) {
    Scalar s;
    s.type = ScalarType::WeakFloat;
    s.dtype = DType::Float64;
    s.number = value;
    return s;
}

bool Scalar::is_integer() const {
    if (type == ScalarType::WeakInt) return true;
    if (type != ScalarType::Strong) return false;
    DTypeKind kind = core::kind_of(dtype);
    return kind == DTypeKind::Bool || kind == DTypeKind::Int || kind == DTypeKind::UInt;
}

double Scalar::as_double() const {
    if (!is_integer() || huge) return number;
    return is_large ? static_cast<double>(large) : static_cast<double>(integer);
}

uint16_t half_from_double(double value) {
    uint64_t bits = std::bit_cast<uint64_t>(value);
    uint16_t sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
    double magnitude = std::fabs(value);
    if (std::isnan(value)) return sign | 0x7e00;
    if (magnitude >= 65520.0) return sign | 0x7c00;
    if (magnitude < std::ldexp(1.0, -14)) {
        double units = std::nearbyint(std::ldexp(magnitude, 24));
        return sign | static_cast<uint16_t>(units);
    }
    int exponent;
    double fraction = std::frexp(magnitude, &exponent);          // [0.5, 1)
    double mantissa = std::nearbyint(std::ldexp(fraction, 11));  // [1024, 2048]
    uint32_t field = static_cast<uint32_t>(exponent + 14) << 10;
    return sign | static_cast<uint16_t>(field + (static_cast<uint32_t>(mantissa) - 1024));
}

double double_from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double mantissa = bits & 1023;
    double value;
    if (exponent == 31)
        value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
    else if (exponent == 0)
        value = std::ldexp(mantissa, -24);
    else
        value = std::ldexp(mantissa + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

uint16_t bfloat16_from_float(float value) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16 & 0x8000) | 0x7fc0);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float float_from_bfloat16(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

namespace {

template <typename T>
void store_integer(const Scalar& s, void* out) {
    T value;
    if (!s.is_integer()) {
        double d = s.number;
        // Saturating is what the device does; NaN becomes 0.
        if (std::isnan(d))
            value = 0;
        else if (d <= static_cast<double>(std::numeric_limits<T>::min()))
            value = std::numeric_limits<T>::min();
        else if (d >= static_cast<double>(std::numeric_limits<T>::max()))
            value = std::numeric_limits<T>::max();
        else
            value = static_cast<T>(d);
    } else {
        bool fits = !s.huge && (s.is_large ? s.large <= std::numeric_limits<T>::max()
                                           : std::in_range<T>(s.integer));
        if (!fits && s.type == ScalarType::WeakInt) {
            bool is_signed = std::numeric_limits<T>::is_signed;
            std::string text = s.huge       ? fmt::format("{:.17g}", s.number)
                               : s.is_large ? fmt::format("{}", s.large)
                                            : fmt::format("{}", s.integer);
            throw std::overflow_error(fmt::format("Python integer {} out of bounds for {}int{}",
                                                  text, is_signed ? "" : "u", sizeof(T) * 8));
        }
        value = static_cast<T>(s.is_large ? s.large : static_cast<uint64_t>(s.integer));
    }
    std::memcpy(out, &value, sizeof value);
}

template <typename T>
void put(T value, void* out) {
    std::memcpy(out, &value, sizeof value);
}

}  // namespace

void store_scalar(const Scalar& s, DType dtype, void* out) {
    double re = s.as_double(), im = s.is_integer() ? 0.0 : s.imaginary;
    switch (dtype) {
        case DType::Bool:
            put<uint8_t>(s.is_integer() ? (s.integer != 0 || s.large != 0 || s.huge)
                                        : (s.number != 0 || s.imaginary != 0),
                         out);
            return;
        case DType::Int8:
            return store_integer<int8_t>(s, out);
        case DType::UInt8:
            return store_integer<uint8_t>(s, out);
        case DType::Int16:
            return store_integer<int16_t>(s, out);
        case DType::UInt16:
            return store_integer<uint16_t>(s, out);
        case DType::Int32:
            return store_integer<int32_t>(s, out);
        case DType::UInt32:
            return store_integer<uint32_t>(s, out);
        case DType::Int64:
            return store_integer<int64_t>(s, out);
        case DType::UInt64:
            return store_integer<uint64_t>(s, out);
        case DType::Float16:
            return put(half_from_double(re), out);
        case DType::BFloat16:
            return put(bfloat16_from_float(static_cast<float>(re)), out);
        case DType::Float32:
            return put(static_cast<float>(re), out);
        case DType::Float64:
            return put(re, out);
        case DType::Complex64: {
            float pair[] = {static_cast<float>(re), static_cast<float>(im)};
            std::memcpy(out, pair, 8);
            return;
        }
        case DType::Complex128: {
            double pair[] = {re, im};
            std::memcpy(out, pair, 16);
            return;
        }
        case DType::Void:
            break;
    }
    core::throw_error(core::ErrorKind::NotSupported, "scalar: structured dtypes hold no number");
}

namespace {

template <typename T>
T get(const void* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

Scalar of_float(double re, double im, DType dtype) {
    Scalar s;
    s.dtype = dtype;
    s.number = re;
    s.imaginary = im;
    return s;
}

}  // namespace

Scalar load_scalar(const void* bytes, DType dtype) {
    switch (dtype) {
        case DType::Bool:
            return Scalar::of_bool(get<uint8_t>(bytes) != 0);
        case DType::Int8:
            return Scalar::of_int(get<int8_t>(bytes), dtype);
        case DType::UInt8:
            return Scalar::of_int(get<uint8_t>(bytes), dtype);
        case DType::Int16:
            return Scalar::of_int(get<int16_t>(bytes), dtype);
        case DType::UInt16:
            return Scalar::of_int(get<uint16_t>(bytes), dtype);
        case DType::Int32:
            return Scalar::of_int(get<int32_t>(bytes), dtype);
        case DType::UInt32:
            return Scalar::of_int(get<uint32_t>(bytes), dtype);
        case DType::Int64:
            return Scalar::of_int(get<int64_t>(bytes), dtype);
        case DType::UInt64: {
            uint64_t value = get<uint64_t>(bytes);
            Scalar s = Scalar::of_int(static_cast<int64_t>(value), dtype);
            s.is_large = value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
            s.large = s.is_large ? value : 0;
            return s;
        }
        case DType::Float16:
            return of_float(double_from_half(get<uint16_t>(bytes)), 0, dtype);
        case DType::BFloat16:
            return of_float(float_from_bfloat16(get<uint16_t>(bytes)), 0, dtype);
        case DType::Float32:
            return of_float(get<float>(bytes), 0, dtype);
        case DType::Float64:
            return of_float(get<double>(bytes), 0, dtype);
        case DType::Complex64: {
            const char* p = static_cast<const char*>(bytes);
            return of_float(get<float>(p), get<float>(p + 4), dtype);
        }
        case DType::Complex128: {
            const char* p = static_cast<const char*>(bytes);
            return of_float(get<double>(p), get<double>(p + 8), dtype);
        }
        case DType::Void:
            break;
    }
    core::throw_error(core::ErrorKind::NotSupported, "scalar: structured dtypes hold no number");
}

}  // namespace trilane::array
