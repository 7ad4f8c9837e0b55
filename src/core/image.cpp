// Images as bytes: a magic word, then fields, each with its length in 8 bytes, little-endian.
#include "core/image.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/error.h"

namespace trilane::core {
namespace {

constexpr std::string_view kMagic = "TRLIMG02";

void put_count(std::string& out, uint64_t value) {
    char raw[8];
    std::memcpy(raw, &value, 8);
    out.append(raw, 8);
}

void put(std::string& out, std::string_view text) {
    put_count(out, text.size());
    out.append(text);
}

void put(std::string& out, const std::map<std::string, std::string>& map) {
    put_count(out, map.size());
    for (const auto& [key, value] : map) {
        put(out, key);
        put(out, value);
    }
}

class Reader {
  public:
    explicit Reader(std::string_view rest) : rest_(rest) {}

    std::string_view take(uint64_t nbytes, const char* what) {
        if (nbytes > rest_.size())
            throw_error(ErrorKind::InvalidArgument,
                        "parse_image: damaged image: {} wants {} bytes, {} are left", what, nbytes,
                        rest_.size());
        const std::string_view piece = rest_.substr(0, nbytes);
        rest_.remove_prefix(nbytes);
        return piece;
    }

    uint64_t count(const char* what) {
        uint64_t value = 0;
        std::memcpy(&value, take(8, what).data(), 8);
        return value;
    }

    std::string text(const char* what) { return std::string(take(count(what), what)); }

    std::map<std::string, std::string> map(const char* what) {
        std::map<std::string, std::string> result;
        const uint64_t entries = count(what);
        if (entries > rest_.size() / 16)  // an entry is at least its two lengths
            throw_error(ErrorKind::InvalidArgument,
                        "parse_image: damaged image: {} claims {} entries", what, entries);
        for (uint64_t i = 0; i < entries; ++i) {
            std::string key = text(what);
            std::string value = text(what);
            if (!result.emplace(std::move(key), std::move(value)).second)
                throw_error(ErrorKind::InvalidArgument,
                            "parse_image: damaged image: {} names one entry twice", what);
        }
        return result;
    }

    size_t left() const { return rest_.size(); }

  private:
    std::string_view rest_;
};

}  // namespace

std::string serialize_image(const Image& image) {
    std::string out;
    out.reserve(image.bytes.size() + image.log.size() + 512);
    out.append(kMagic);
    put(out, image.format);
    put(out, image.bytes);
    put(out, image.lowered_names);
    put(out, image.log);
    put(out, image.files);
    return out;
}

Image parse_image(const std::string& bytes) {
    Reader reader(bytes);
    if (reader.take(kMagic.size(), "magic word") != kMagic)
        throw_error(ErrorKind::InvalidArgument, "parse_image: not an image of this version");
    Image image;
    image.format = reader.text("format");
    image.bytes = reader.text("code");
    image.lowered_names = reader.map("lowered names");
    image.log = reader.text("log");
    image.files = reader.map("files");
    if (reader.left() != 0)
        throw_error(ErrorKind::InvalidArgument,
                    "parse_image: damaged image: {} bytes after its end", reader.left());
    return image;
}

}  // namespace trilane::core
