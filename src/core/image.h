// An Image is what a device's compiler makes of a Program: loadable code as bytes, storable on disk.
#pragma once

#include <map>
#include <string>

namespace trilane::core {

struct Image {
    std::string format;  // "cpu-object", "cubin", "ptx", "fatbin": the device's own word
    std::string bytes;
    std::map<std::string, std::string> lowered_names;  // name expression -> symbol
    std::string log;     // warnings of the compiler, empty if none
};

// For the disk cache. parse_image throws InvalidArgument on anything it does not know.
std::string serialize_image(const Image& image);
Image parse_image(const std::string& bytes);

}  // namespace trilane::core
