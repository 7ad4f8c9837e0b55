// float16 bits against the definition of the format.
#include "core/half.h"

#include <gtest/gtest.h>

#include <limits>

namespace trilane::core {
namespace {

double value_of(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction ? std::nan("") : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Half, EveryValueConvertsToItself) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const double value = value_of(static_cast<uint16_t>(bits));
        if (std::isnan(value)) {
            EXPECT_TRUE(std::isnan(value_of(half_bits(value))));
        } else {
            EXPECT_EQ(half_bits(value), bits);
        }
    }
}

TEST(Half, RoundsToNearestEven) {
    for (unsigned bits = 0; bits < 0x7bff; ++bits) {  // between two neighbours: to the even one
        const double low = value_of(static_cast<uint16_t>(bits));
        const double high = value_of(static_cast<uint16_t>(bits + 1));
        const double middle = (low + high) / 2;
        EXPECT_EQ(half_bits(middle), bits % 2 == 0 ? bits : bits + 1);
        EXPECT_EQ(half_bits(std::nextafter(middle, 1e9)), bits + 1);
        EXPECT_EQ(half_bits(std::nextafter(middle, -1e9)), bits);
    }
}

TEST(Half, OverflowsToInfinity) {
    EXPECT_EQ(half_bits(65519.999), 0x7bff);
    EXPECT_EQ(half_bits(65520.0), 0x7c00);
    EXPECT_EQ(half_bits(-1e300), 0xfc00);
    EXPECT_EQ(half_bits(1e-300), 0);
    EXPECT_EQ(half_bits(-0.0), 0x8000);
}

}  // namespace
}  // namespace trilane::core
