// Arrays on a device that is not the current one.
#pragma once

#include "array/array.h"

namespace trilane::array {

// What is told the two devices' numbers when a kernel is about to use memory of another device. It
// may throw.
using PeerNotice = void (*)(int memory_device, int current_device);
void set_peer_notice(PeerNotice notice);

// Whether the array is in memory of a device that is not the current one.
bool is_elsewhere(const Array& a);

}  // namespace trilane::array
