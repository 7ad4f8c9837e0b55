// Python objects as kernel arguments and as device memory.
#pragma once

#include <array>
#include <memory>
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
// common types: pointers, NumPy scalars up to 8 bytes, Python numbers. Needs the GIL to fill and to
// drop; the converted arguments stay valid while this object and the given ones live.
class ArgumentList {
  public:
    enum class Accept : uint8_t {
        All,
        Plain,  // what TypeRoute::plain says alone; others end the conversion
    };
    // Throws TypeMismatch naming the parameter for an object that can be no argument.
    // With `loose`, NumPy scalars convert like Python numbers: when that loses nothing.
    ArgumentList(nb::handle tuple, const core::Function& function, bool loose = false,
                 Accept accept = Accept::All);
    ArgumentList(PyObject* const* objects, size_t count, const core::Function& function,
                 bool loose = false, Accept accept = Accept::All);
    ~ArgumentList();
    ArgumentList(const ArgumentList&) = delete;
    ArgumentList& operator=(const ArgumentList&) = delete;

    // An argument is a Route::Handler: the caller must deal with those first.
    bool has_handlers() const { return has_handlers_; }
    // False with handlers, or with something that `accept` does not name. No list then.
    bool complete() const { return complete_; }
    std::span<const core::Argument> span() const { return {arguments_, count_}; }

  private:
    static constexpr size_t kInline = 16;
    // What the arguments point to and no given object owns: no common launch has any.
    struct Kept {
        std::vector<core::Argument> many;
        std::vector<std::unique_ptr<std::array<double, 2>>> values;
        std::vector<MemoryRef> memory;
        std::vector<std::unique_ptr<HostView>> views;
    };
    // Not built before they are needed, at most once each.
    union InlineArguments {
        InlineArguments() {}
        core::Argument at[kInline];
    };
    union HeldBuffers {
        HeldBuffers() {}
        ~HeldBuffers() {}
        core::BufferPtr at[kInline];
    };
    ArgumentList(const core::Function& function, size_t count);  // of none yet
    void add(nb::handle object, size_t position, bool loose, Accept accept);
    void convert(nb::handle object, const TypeRoute& type, size_t position);
    void convert_bytes(nb::handle object, core::Argument& argument);
    void convert_small(const void* bytes, size_t nbytes, core::Argument& argument);
    void convert_complex(nb::handle object, size_t position, size_t given_size,
                         core::Argument& argument);
    void convert_memory(nb::handle object, const TypeRoute& route, core::Argument& argument);
    [[noreturn]] void refuse(nb::handle object, size_t position) const;
    Kept& kept();

    const core::Function& function_;
    InlineArguments inline_;
    core::Argument* arguments_ = inline_.at;
    size_t count_ = 0;
    bool has_handlers_ = false, complete_ = true;
    // The buffers of arrays, as far as there is room.
    HeldBuffers held_;
    size_t held_count_ = 0;
    std::unique_ptr<Kept> kept_;
};

// Grid and block from an int or a tuple of one to three ints. InvalidArgument or TypeMismatch
// otherwise; that it is not empty and not too large is launch()'s to check.
core::Dim3 dim_of(nb::handle object, const char* what);

}  // namespace trilane::bindings
