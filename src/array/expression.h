// Expression: a value that has not been computed. The seam for deferred evaluation: today every
// operation evaluates at once, and only tests make pending storages.
#pragma once

#include "core/buffer.h"

namespace trilane::array {

class Expression {
  public:
    virtual ~Expression() = default;
    // Computes the value into new memory, ordered on the current stream.
    virtual core::BufferPtr evaluate() = 0;
};

}  // namespace trilane::array
