// For tests: the buffers of generated kernels, before and after a launch.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "devices/cpu/testing.h"
#include "devices/cpu/testing/lane_generator.h"

namespace trilane::cpu::testing {

// What a launch wrote, with a zone of known bytes behind each buffer.
struct LaneResult {
    struct Buffer {
        std::string name;
        std::vector<std::byte> bytes;
    };
    std::vector<Buffer> buffers;
    std::string error;  // what the launch threw

    // Where the two differ first, if they do; NaNs are one.
    std::optional<std::string> difference(const LaneResult& other) const;
};

LaneResult launch_generated(Program& program, const std::string& name,
                            const GeneratedKernel& kernel);

}  // namespace trilane::cpu::testing
