// Arguments of a generated kernel, packed as launch_packed wants them, without allocation.
#pragma once

#include <cstring>

#include "array/array.h"
#include "array/kernel_cache.h"
#include "core/error.h"

namespace trilane::array {

class KernelArguments {
  public:
    static constexpr int kMax = 160;

    void add(int64_t value) {
        TRILANE_CHECK(count_ < kMax, "too many kernel arguments");
        std::memcpy(values_[count_], &value, sizeof value);
        pointers_[count_] = values_[count_];
        ++count_;
    }
    void add(const Array& array) { add(static_cast<int64_t>(array.data())); }
    void add(double value) { add_bytes(&value, sizeof value); }
    // Up to 16 bytes.
    void add_bytes(const void* bytes, size_t nbytes) {
        TRILANE_CHECK(count_ < kMax && nbytes <= 16, "too many or too large kernel arguments");
        std::memcpy(values_[count_], bytes, nbytes);
        pointers_[count_] = values_[count_];
        ++count_;
    }
    // A value that lives elsewhere until the launch.
    void add_reference(void* bytes) {
        TRILANE_CHECK(count_ < kMax, "too many kernel arguments");
        pointers_[count_++] = bytes;
    }
    void* const* data() const { return pointers_; }
    size_t size() const { return static_cast<size_t>(count_); }

  private:
    alignas(16) char values_[kMax][16];
    void* pointers_[kMax];
    int count_ = 0;
};

// One thread per item: `threads` of them in blocks of at most `block`.
void launch_threads(core::Function& function, int64_t threads, int64_t block,
                    const KernelArguments& arguments);

}  // namespace trilane::array
