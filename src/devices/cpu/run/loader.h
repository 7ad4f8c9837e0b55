// Object code -> memory of this process. Pages are written first and executable after, never both.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "devices/cpu/run/fault.h"

namespace trilane::cpu {

class LoadedObject {
  public:
    // CompileError if the object needs a symbol that runtime_symbols() does not have.
    static std::unique_ptr<LoadedObject> load(std::string_view object);
    ~LoadedObject();  // frees the code and its data
    // Address of a symbol of the object; nullptr if there is none.
    void* address(std::string_view symbol);
    // All its code. Known from the first address() on.
    CodeRange code() const;

  private:
    struct Impl;
    explicit LoadedObject(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace trilane::cpu
