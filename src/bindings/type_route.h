// How a Python object of a type becomes a kernel argument or device memory: found out once per
// type, then looked up by the type's address.
#pragma once

#include <cstdint>

#include "bindings/bindings.h"

namespace trilane::bindings {

enum class Route : uint8_t {
    Refuse,
    Bool,
    Int,
    Float,
    Complex,  // Python's own, and their subclasses
    NumpyBool,
    NumpyInt,
    NumpyUInt,
    NumpyFloat,  // size: bytes of the scalar
    BFloat16,
    NumpyComplex,
    Bytes,  // buffer protocol: passed by value
    Buffer,
    HostBuffer,
    Array,
    Texture,
    Surface,  // bound types
    TrilaneArray,
    TrilaneBuffer,
    CudaArrayInterface,  // protocols
    GpuData,
    GetPointer,  // PyCUDA's own protocols
    Index,       // has __index__
    Handler,     // has __trilane_handler__: wants calls before and after the launch (PyCUDA's In)
};

struct TypeRoute {
    PyObject* type = nullptr;  // kept alive: its address is the key
    Route route = Route::Refuse;
    uint8_t size = 0;     // of NumPy scalars
    bool record = false;  // with Route::Bytes: numpy.void or a subclass
    bool plain = false;   // numbers and arrays that no protocol makes something else of
    // Of NumPy's own scalars up to 8 bytes: where in the object its value lies; 0: not known.
    uint8_t value_at = 0;
    const char* name = "";  // for messages; lives as long as the process
};

// Never throws for a type that it does not know (Refuse). Needs the GIL. The reference is valid
// until the next call.
const TypeRoute& route_of(nb::handle object);

}  // namespace trilane::bindings
