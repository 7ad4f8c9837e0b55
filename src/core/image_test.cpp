// Images as bytes: a round trip, and that nothing hostile gets through or out of bounds.
#include "core/image.h"

#include <random>

#include "core/testing/expect_error.h"

namespace trilane::core {
namespace {

Image example() {
    Image image;
    image.format = "cpu-object";
    image.bytes = std::string("\0\1\2code", 7);
    image.lowered_names = {{"k<float>", "_Z1kIfEvv"}, {"k<int, 3>", "_Z1kIiLi3EEvv"}};
    image.log = "warning: unused";
    image.files = {{"/a/b.h", "0123456789abcdef0123456789abcdef"}};
    return image;
}

TEST(Image, RoundTrip) {
    EXPECT_EQ(parse_image(serialize_image(example())), example());
    EXPECT_EQ(parse_image(serialize_image(Image{})), Image{});
}

TEST(Image, EveryTruncationIsRefused) {
    const std::string bytes = serialize_image(example());
    for (size_t n = 0; n < bytes.size(); ++n)
        EXPECT_ERROR(parse_image(bytes.substr(0, n)), InvalidArgument, "image") << n;
}

TEST(Image, BytesAfterTheEndAreRefused) {
    EXPECT_ERROR(parse_image(serialize_image(example()) + "x"), InvalidArgument, "after its end");
}

TEST(Image, HugeLengthsAreRefusedWithoutAllocating) {
    std::string bytes = serialize_image(example());
    for (size_t at = 8; at + 8 <= bytes.size(); ++at) {
        std::string bad = bytes;
        for (size_t i = 0; i < 8; ++i) bad[at + i] = static_cast<char>(0xff);
        try {
            const Image image = parse_image(bad);  // only content was hit
            EXPECT_LE(image.bytes.size(), bytes.size());
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}

TEST(Image, RandomDamageThrowsOrParses) {
    std::mt19937 random(7);
    const std::string good = serialize_image(example());
    for (int round = 0; round < 20000; ++round) {
        std::string bad = good;
        for (unsigned i = 0; i < 1 + round % 8u; ++i)
            bad[random() % bad.size()] = static_cast<char>(random());
        if (round % 3 == 0) bad.resize(random() % (bad.size() + 1));
        try {
            parse_image(bad);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}

TEST(Image, AnEntryMayNotComeTwice) {
    Image image;
    image.lowered_names = {{"a", "1"}, {"b", "2"}};
    std::string bytes = serialize_image(image);
    bytes[bytes.find('b')] = 'a';
    EXPECT_ERROR(parse_image(bytes), InvalidArgument, "twice");
}

}  // namespace
}  // namespace trilane::core
