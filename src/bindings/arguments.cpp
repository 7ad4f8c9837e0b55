// Python objects as kernel arguments and as device memory.
#include "bindings/arguments.h"

#include <cstring>
#include <memory>

#include "bindings/array_memory.h"
#include "bindings/locate.h"
#include "bindings/texture.h"
#include "core/error.h"

namespace trilane::bindings {
namespace {

using core::ArgumentKind;
using core::ErrorKind;

[[noreturn]] void freed_error(const char* who, const core::Buffer& buffer) {
    core::throw_error(ErrorKind::InvalidArgument,
                      "{}: the memory was freed: got an allocation of {} bytes after its free: "
                      "allocate it again",
                      who, buffer.nbytes());
}

MemoryRef ref_of(const core::BufferPtr& buffer, size_t offset, const char* who) {
    if (buffer->freed()) freed_error(who, *buffer);
    MemoryRef ref;
    ref.buffer = buffer;
    ref.offset = offset;
    ref.address = buffer->address() + offset;
    ref.nbytes = offset <= buffer->nbytes() ? buffer->nbytes() - offset : 0;
    return ref;
}

MemoryRef address_only(nb::handle integer, const char* who) {
    nb::object index = nb::steal(PyNumber_Index(integer.ptr()));
    if (!index.is_valid()) nb::raise_python_error();
    MemoryRef ref;
    ref.address = PyLong_AsUnsignedLongLong(index.ptr());
    if (PyErr_Occurred()) {
        PyErr_Clear();
        core::throw_error(ErrorKind::InvalidArgument,
                          "{}: not an address: got {}, expected an integer from 0 to 2**64 - 1",
                          who, nb::cast<std::string>(nb::str(index)));
    }
    return ref;
}

MemoryRef interface_memory(nb::handle object, const char* who) {
    nb::object interface = object.attr("__cuda_array_interface__");
    nb::object data = interface["data"];
    return address_only(data[0], who);
}

[[noreturn]] void not_memory(const TypeRoute& type, const char* who) {
    core::throw_error(ErrorKind::TypeMismatch,
                      "{}: not device memory: got {}, expected an allocation, a device array or an "
                      "address",
                      who, type.name);
}

MemoryRef buffer_protocol(nb::handle object, const char* who) {
    nb::tuple pair = nb::cast<nb::tuple>(object.attr("__trilane_buffer__")());
    const BufferHandle* handle = nullptr;
    if (nb::len(pair) != 2 || !nb::try_cast(pair[0], handle) || !handle)
        core::throw_error(ErrorKind::TypeMismatch,
                          "{}: __trilane_buffer__ of {} returned something else: expected (Buffer, "
                          "offset)",
                          who, nb::inst_name(object).c_str());
    return ref_of(handle->ptr, nb::cast<size_t>(pair[1]), who);
}

MemoryRef memory_by_route(nb::handle object, const TypeRoute& type, const char* who) {
    switch (type.route) {
        case Route::Buffer:
            return ref_of(nb::inst_ptr<BufferHandle>(object)->ptr, 0, who);
        case Route::HostBuffer: {
            MemoryRef ref;
            const core::HostBufferPtr& buffer = nb::inst_ptr<HostBufferHandle>(object)->ptr;
            ref.address = buffer->device_pointer();
            ref.nbytes = buffer->nbytes();
            return ref;
        }
        case Route::Array:
            return array_memory(object);
        case Route::TrilaneArray: {
            nb::object array = object.attr("__trilane_array__")();
            if (array.is_none()) not_memory(type, who);
            MemoryRef ref = array_memory(array);
            ref.owner = std::move(array);
            return ref;
        }
        case Route::TrilaneBuffer:
            return buffer_protocol(object, who);
        case Route::CudaArrayInterface:
            return interface_memory(object, who);
        case Route::GpuData: {
            nb::object inner = object.attr("gpudata");
            if (inner.is_none()) return {};
            MemoryRef ref = memory_of(inner, who);
            if (!ref.owner.is_valid()) ref.owner = std::move(inner);
            return ref;
        }
        case Route::GetPointer: {
            nb::object inner = object.attr("get_pointer")();
            return memory_of(inner, who);
        }
        case Route::Int:
        case Route::NumpyInt:
        case Route::NumpyUInt:
        case Route::Index:
            return address_only(object, who);
        default:
            not_memory(type, who);
    }
}

double as_double(nb::handle object) {
    double value = PyFloat_AsDouble(object.ptr());
    if (value == -1.0 && PyErr_Occurred()) nb::raise_python_error();
    return value;
}

// What a kernel gets of a texture or surface object. The launch does not see which object that is:
// whatever is captured now keeps it.
template <typename Object>
uint64_t kernel_handle(const std::shared_ptr<Object>& object) {
    core::Captures& captures = object->context()->captures();
    if (captures.any()) [[unlikely]]
        for (const core::CapturePtr& capture : captures.open()) capture->hold(object);
    return object->raw();
}

// Into an Int or UInt argument, whichever holds it.
void set_integer(nb::handle number, core::Argument& argument) {
    int overflow = 0;
    argument.kind = ArgumentKind::Int;
    argument.integer = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (argument.integer == -1 && !overflow && PyErr_Occurred()) nb::raise_python_error();
    if (overflow == 0) return;
    argument.kind = ArgumentKind::UInt;
    argument.bits = overflow > 0 ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        core::throw_error(ErrorKind::TypeMismatch,
                          "launch: an integer does not fit into 64 bits: got {}",
                          nb::cast<std::string>(nb::str(number)));
    }
}

// The value of one of NumPy's own scalars, where it lies.
void read_integer(nb::handle object, const TypeRoute& type, core::Argument& argument) {
    const char* place = reinterpret_cast<const char*>(object.ptr()) + type.value_at;
    argument.kind = type.route == Route::NumpyUInt ? ArgumentKind::UInt : ArgumentKind::Int;
    if (type.size == 8) {
        std::memcpy(&argument.bits, place, 8);
        return;
    }
    uint32_t low;
    std::memcpy(&low, place, 4);
    argument.integer = type.route == Route::NumpyUInt
                           ? static_cast<int64_t>(low)
                           : static_cast<int64_t>(static_cast<int32_t>(low));
}

double read_float(nb::handle object, const TypeRoute& type) {
    const char* place = reinterpret_cast<const char*>(object.ptr()) + type.value_at;
    double number;
    float single;
    if (type.size == 8) {
        std::memcpy(&number, place, 8);
        return number;
    }
    std::memcpy(&single, place, 4);
    return single;
}

}  // namespace

MemoryRef memory_of(nb::handle object, const char* who) {
    TypeRoute type = route_of(object);
    return memory_by_route(object, type, who);
}

core::BufferPtr buffer_of(nb::handle object, size_t nbytes, size_t& offset, const char* who,
                          const core::ContextPtr& context) {
    MemoryRef ref = memory_of(object, who);
    offset = ref.offset;
    if (ref.buffer) return ref.buffer;
    offset = 0;
    std::function<void()> release;
    return core::Buffer::adopt(home_of(ref.address, nullptr, context), ref.address, nbytes,
                               release);
}

ArgumentList::ArgumentList(const core::Function& function, size_t count)
    : function_(function), count_(count) {
    if (count <= kInline) return;
    kept().many.resize(count);
    arguments_ = kept_->many.data();
}

ArgumentList::ArgumentList(nb::handle tuple, const core::Function& function, bool loose,
                           Accept accept)
    : ArgumentList(function, nb::len(tuple)) {
    for (size_t i = 0; i < count_ && complete_; ++i)
        add(PyTuple_GetItem(tuple.ptr(), static_cast<Py_ssize_t>(i)), i, loose, accept);
}

ArgumentList::ArgumentList(PyObject* const* objects, size_t count, const core::Function& function,
                           bool loose, Accept accept)
    : ArgumentList(function, count) {
    for (size_t i = 0; i < count_ && complete_; ++i) add(objects[i], i, loose, accept);
}

ArgumentList::~ArgumentList() {
    for (size_t i = 0; i < held_count_; ++i) std::destroy_at(&held_.at[i]);
}

ArgumentList::Kept& ArgumentList::kept() {
    if (!kept_) kept_ = std::make_unique<Kept>();
    return *kept_;
}

void ArgumentList::add(nb::handle object, size_t position, bool loose, Accept accept) {
    const TypeRoute& type = route_of(object);
    if (accept == Accept::Plain && !type.plain) {
        complete_ = false;
        return;
    }
    core::Argument& argument = *std::construct_at(&arguments_[position]);
    argument.given = type.name;
    convert(object, type, position);
    if (loose && argument.kind != ArgumentKind::Pointer && argument.kind != ArgumentKind::Bytes)
        argument.size = 0;
}

void ArgumentList::convert(nb::handle object, const TypeRoute& type, size_t position) {
    core::Argument& argument = arguments_[position];
    switch (type.route) {
        case Route::Refuse:
            refuse(object, position);
        case Route::Bool:
            argument.kind = ArgumentKind::Bool;
            argument.integer = object.is(Py_True);
            return;
        case Route::NumpyBool: {
            argument.kind = ArgumentKind::Bool;
            argument.size = 1;
            argument.integer = PyObject_IsTrue(object.ptr()) == 1;
            return;
        }
        case Route::Int:
            set_integer(object, argument);
            return;
        case Route::NumpyInt:
        case Route::NumpyUInt:
        case Route::Index: {
            argument.size = type.size;
            if (type.value_at != 0) return read_integer(object, type, argument);
            nb::object number = nb::steal(PyNumber_Index(object.ptr()));
            if (!number.is_valid()) nb::raise_python_error();
            bool is_unsigned = type.route == Route::NumpyUInt;
            set_integer(number, argument);
            if (is_unsigned) argument.kind = ArgumentKind::UInt;
            return;
        }
        case Route::Float:
        case Route::NumpyFloat:
            argument.kind = ArgumentKind::Float;
            argument.size = type.size;
            argument.number = type.value_at != 0 ? read_float(object, type) : as_double(object);
            return;
        case Route::BFloat16: {
            float single = static_cast<float>(as_double(object));
            uint32_t bits;
            std::memcpy(&bits, &single, sizeof bits);
            uint16_t upper = static_cast<uint16_t>(bits >> 16);
            convert_small(&upper, sizeof upper, argument);
            return;
        }
        case Route::Complex:
        case Route::NumpyComplex:
            convert_complex(object, position, type.size, argument);
            return;
        case Route::Bytes:
            convert_bytes(object, argument);
            return;
        case Route::Texture:
        case Route::Surface:
            argument.kind = ArgumentKind::UInt;
            argument.size = 8;
            argument.bits = type.route == Route::Texture
                                ? kernel_handle(nb::inst_ptr<TextureHandle>(object)->ptr)
                                : kernel_handle(nb::inst_ptr<SurfaceHandle>(object)->ptr);
            return;
        case Route::Handler:
            has_handlers_ = true;
            complete_ = false;
            return;
        default:
            convert_memory(object, type, argument);
    }
}

void ArgumentList::convert_small(const void* bytes, size_t nbytes, core::Argument& argument) {
    auto& value = kept().values.emplace_back(std::make_unique<std::array<double, 2>>());
    std::memcpy(value->data(), bytes, nbytes);
    argument.kind = ArgumentKind::Bytes;
    argument.bytes = value->data();
    argument.nbytes = static_cast<uint32_t>(nbytes);
}

// A Python complex has the size of the parameter: float2 or double2.
void ArgumentList::convert_complex(nb::handle object, size_t position, size_t given_size,
                                   core::Argument& argument) {
    const std::vector<core::Parameter>& parameters = function_.info().parameters;
    size_t size = given_size                                                       ? given_size
                  : position < parameters.size() && parameters[position].size == 8 ? 8
                                                                                   : 16;
    nb::object real = object.attr("real"), imag = object.attr("imag");
    double pair[2] = {as_double(real), as_double(imag)};
    if (size == 16) return convert_small(pair, sizeof pair, argument);
    float singles[2] = {static_cast<float>(pair[0]), static_cast<float>(pair[1])};
    convert_small(singles, sizeof singles, argument);
}

void ArgumentList::convert_bytes(nb::handle object, core::Argument& argument) {
    auto& view = kept().views.emplace_back(
        std::make_unique<HostView>(object, HostView::Access::Read, "launch"));
    argument.kind = ArgumentKind::Bytes;
    argument.bytes = view->data();
    argument.nbytes = static_cast<uint32_t>(view->nbytes());
}

void ArgumentList::convert_memory(nb::handle object, const TypeRoute& type,
                                  core::Argument& argument) {
    argument.kind = ArgumentKind::Pointer;
    argument.size = 8;
    if (type.route == Route::Buffer) {  // owned by the tuple: nothing to keep
        const core::BufferPtr& buffer = nb::inst_ptr<BufferHandle>(object)->ptr;
        if (buffer->freed()) freed_error("launch", *buffer);
        argument.bits = buffer->address();
        argument.buffer = buffer.get();
        return;
    }
    if (type.route == Route::Array && held_count_ < kInline) {
        // Another thread may give the array a new one.
        core::BufferPtr& held = *std::construct_at(&held_.at[held_count_++]);
        argument.bits = array_address(object, held);
        argument.buffer = held.get();
        return;
    }
    MemoryRef ref = memory_by_route(object, type, "launch");
    argument.bits = ref.address;
    argument.buffer = ref.buffer.get();
    if (ref.owner.is_valid() || ref.buffer) kept().memory.push_back(std::move(ref));
}

void ArgumentList::refuse(nb::handle object, size_t position) const {
    const core::FunctionInfo& info = function_.info();
    std::string expected = "a number, a NumPy scalar, device memory or bytes";
    std::string parameter = fmt::format("{} (0-based)", position);
    if (info.parameters_known && position < info.parameters.size()) {
        expected = info.parameters[position].c_type;
        if (!info.parameters[position].name.empty())
            parameter += fmt::format(" '{}'", info.parameters[position].name);
    }
    core::throw_error(ErrorKind::TypeMismatch,
                      "launch of {}: invalid type on parameter #{}: got {}, expected {}", info.name,
                      parameter, route_of(object).name, expected);
}

core::Dim3 dim_of(nb::handle object, const char* what) {
    core::Dim3 dim;
    uint32_t* parts[] = {&dim.x, &dim.y, &dim.z};
    auto part = [&](nb::handle value, uint32_t* out) {
        nb::object index;
        PyObject* number = value.ptr();
        if (!PyLong_Check(number)) {
            index = nb::steal(PyNumber_Index(number));
            if (!index.is_valid()) {
                PyErr_Clear();
                core::throw_error(
                    ErrorKind::TypeMismatch, "launch: {} must hold integers: got {} of type {}",
                    what, nb::cast<std::string>(nb::repr(value)), nb::inst_name(value).c_str());
            }
            number = index.ptr();
        }
        long given = PyLong_AsLong(number);
        if ((given == -1 && PyErr_Occurred()) || given < 0 || given > 0x7fffffff) {
            PyErr_Clear();
            core::throw_error(ErrorKind::InvalidArgument,
                              "launch: {} is out of range: got {}, expected numbers from 1 to "
                              "2147483647",
                              what, nb::cast<std::string>(nb::str(value)));
        }
        *out = static_cast<uint32_t>(given);
    };
    if (!PyTuple_Check(object.ptr()) && !PyList_Check(object.ptr())) {
        part(object, parts[0]);
        return dim;
    }
    size_t count = nb::len(object);
    if (count < 1 || count > 3)
        core::throw_error(ErrorKind::InvalidArgument,
                          "launch: {} has the wrong length: got {}, expected 1 to 3", what, count);
    for (size_t i = 0; i < count; ++i) {
        if (PyTuple_Check(object.ptr()))
            part(PyTuple_GetItem(object.ptr(), static_cast<Py_ssize_t>(i)), parts[i]);
        else
            part(nb::object(object[i]), parts[i]);
    }
    return dim;
}

}  // namespace trilane::bindings
