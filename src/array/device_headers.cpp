// The embedded headers in the form that a Program takes.
#include "array/device_headers.h"

namespace trilane::array {

const std::vector<core::Header>& array_device_headers() {
    static const std::vector<core::Header> kHeaders = [] {
        std::vector<core::Header> headers;
        for (const EmbeddedFile& file : embedded_files())
            headers.push_back({std::string(file.name), std::string(file.text)});
        return headers;
    }();
    return kHeaders;
}

}  // namespace trilane::array
