// Python objects as kernel arguments and as device memory.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/host_view.h"
#include "bindings/type_route.h"
#include "core/launch.h"

namespace trilane::bindings {

// Device memory that a Python object stands for.
struct MemoryRef {
    core::BufferPtr buffer;  // null if only the address is known
    nb::object owner;        // temporary that keeps the memory, if any
    core::DevicePtr address = 0;
    size_t offset = 0;  // of the address in the buffer
    size_t nbytes = 0;  // from the address on; 0 if unknown (no buffer)
};

// Accepts Buffer, device-mapped HostBuffer, _core.array.ndarray, objects with __trilane_array__(),
// __trilane_buffer__(), __cuda_array_interface__, .gpudata, get_pointer(), and integers. Throws
// TypeMismatch otherwise, InvalidArgument if the memory was freed. `who` is for messages.
MemoryRef memory_of(nb::handle object, const char* who);

// The same as memory_of, as a buffer of at least `nbytes` from `offset` on: bare addresses are
// adopted for the length of the call.
core::BufferPtr buffer_of(nb::handle object, size_t nbytes, size_t& offset, const char* who,
                          const core::ContextPtr& context);

// The arguments of one launch. Nothing is allocated on the heap for up to kInline arguments of the
// common types: pointers, NumPy scalars up to 8 bytes, Python numbers. Needs the GIL to fill;
// the converted arguments stay valid while this object and `tuple` live.
class ArgumentList {
  public:
    // Throws TypeMismatch naming the parameter for an object that can be no argument.
    // With `loose`, NumPy scalars convert like Python numbers: when that loses nothing.
    ArgumentList(nb::handle tuple, const core::Function& function, bool loose = false);
    ~ArgumentList();
    ArgumentList(const ArgumentList&) = delete;
    ArgumentList& operator=(const ArgumentList&) = delete;

    // An argument is a Route::Handler: the caller must deal with those first. Nothing else was
    // converted then.
    bool has_handlers() const { return has_handlers_; }
    std::span<const core::Argument> span() const { return {arguments_, count_}; }

  private:
    static constexpr size_t kInline = 16;
    void convert(nb::handle object, size_t position);
    void convert_bytes(nb::handle object, core::Argument& argument);
    void convert_small(const void* bytes, size_t nbytes, core::Argument& argument);
    void convert_complex(nb::handle object, size_t position, size_t given_size,
                         core::Argument& argument);
    void convert_memory(nb::handle object, const TypeRoute& route, core::Argument& argument);
    [[noreturn]] void refuse(nb::handle object, size_t position) const;

    const core::Function& function_;
    core::Argument inline_[kInline];
    std::vector<core::Argument> many_;
    core::Argument* arguments_ = inline_;
    size_t count_ = 0;
    bool has_handlers_ = false;
    // The buffers of arrays, as far as there is room: no vector for the common launch.
    core::BufferPtr held_[kInline];
    size_t held_count_ = 0;
    // What the arguments point to and no Python object of the tuple owns; empty for most calls.
    std::vector<std::unique_ptr<std::array<double, 2>>> values_;
    std::vector<MemoryRef> memory_;
    std::vector<std::unique_ptr<HostView>> views_;
};

// Grid and block from an int or a tuple of one to three ints. InvalidArgument or TypeMismatch
// otherwise; that it is not empty and not too large is launch()'s to check.
core::Dim3 dim_of(nb::handle object, const char* what);

}  // namespace trilane::bindings
