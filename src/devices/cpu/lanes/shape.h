// What a value looks like across the W lanes of a vector: the same everywhere, base + lane *
// stride, or anything.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trilane::cpu {

struct LaneShape {
    enum class Kind : uint8_t { Unknown, Uniform, Affine, Varying };
    Kind kind = Kind::Unknown;
    // Lanes, read as signed or unsigned integers, are base + lane * stride with no wrap. Always so
    // for uniform values.
    bool exact_signed = false, exact_unsigned = false;
    uint8_t zeros = 0;   // what lane 0 holds is a multiple of 2^zeros
    int64_t stride = 0;  // per lane; bytes for pointers

    static LaneShape uniform(unsigned zeros = 0) {
        return {Kind::Uniform, true, true, uint8_t(zeros), 0};
    }
    static LaneShape varying() { return {Kind::Varying, false, false, 0, 0}; }
    static LaneShape affine(int64_t stride, bool exact_signed, bool exact_unsigned,
                            unsigned zeros = 0) {
        return {Kind::Affine, exact_signed, exact_unsigned, uint8_t(zeros), stride};
    }
    bool is_unknown() const { return kind == Kind::Unknown; }
    bool is_uniform() const { return kind == Kind::Uniform; }
    bool is_affine() const { return kind == Kind::Affine; }
    bool is_varying() const { return kind == Kind::Varying; }
    // Lane 0 tells the others.
    bool has_base() const { return is_uniform() || is_affine(); }
    bool operator==(const LaneShape&) const = default;
};

// The shape of a value that is one or the other, the same in all lanes.
inline LaneShape join(LaneShape a, LaneShape b) {
    if (a.is_unknown()) return b;
    if (b.is_unknown()) return a;
    if (a.kind != b.kind || a.stride != b.stride || a.is_varying()) return LaneShape::varying();
    a.exact_signed &= b.exact_signed;
    a.exact_unsigned &= b.exact_unsigned;
    a.zeros = std::min(a.zeros, b.zeros);
    return a;
}

}  // namespace trilane::cpu
