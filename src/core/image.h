// An Image is what a device's compiler makes of a Program: loadable code as bytes, storable on
// disk.
#pragma once

#include <map>
#include <string>

namespace trilane::core {

struct Image {
    std::string format;  // "cpu-object", "cubin", "ptx", "fatbin": the device's own word
    std::string bytes;
    std::map<std::string, std::string> lowered_names;  // name expression -> symbol
    std::string log;                                   // warnings of the compiler, empty if none
    // Files of the disk that the compiler read (through -I): absolute path -> hash of the content,
    // 32 hex digits. The device fills in the paths, the compile cache the hashes; a cached image is
    // used only while they still hold.
    std::map<std::string, std::string> files;

    bool operator==(const Image&) const = default;
};

// For the disk cache. parse_image throws InvalidArgument on anything it does not know; it never
// reads outside `bytes` nor allocates more than their size, whatever they are.
std::string serialize_image(const Image& image);
Image parse_image(const std::string& bytes);

}  // namespace trilane::core
