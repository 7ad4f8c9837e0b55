// Python objects as arguments of translated kernels.
#include "bindings/jit_arguments.h"

#include <dlfcn.h>

#include <cstring>

#include "array/array.h"
#include "core/error.h"
#include "core/half.h"

namespace trilane::bindings {
namespace {

using jit::TypeKind;
using jit::TypeRef;

constexpr int kStridesFormat = 0x10 | 0x08 | 0x04;  // PyBUF_STRIDES | PyBUF_FORMAT, read-only

template <typename F>
F python_function(const char* name) {
    return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

// Interned types by what is cheap to know of an array: no text is made at a launch.
TypeRef array_type(core::DType dtype, int ndim, char layout, bool readonly, bool narrow) {
    static TypeRef table[core::kDTypeCount][8][3][2][2] = {};
    int order = layout == 'C' ? 0 : layout == 'F' ? 1 : 2;
    if (ndim >= 8)
        return jit::types::array(jit::types::of_dtype(dtype), ndim, layout, readonly, narrow);
    TypeRef& slot = table[static_cast<int>(dtype)][ndim][order][readonly][narrow];
    if (!slot)
        slot = jit::types::array(jit::types::of_dtype(dtype), ndim, layout, readonly, narrow);
    return slot;
}

bool contiguous(const int64_t* shape, const int64_t* strides, int ndim, int64_t itemsize,
                bool fortran) {
    int64_t expected = itemsize;
    for (int k = 0; k < ndim; ++k) {
        int i = fortran ? k : ndim - 1 - k;
        if (shape[i] != 1 && strides[i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

char layout_of(const array::Shape& shape, const array::Shape& strides, int64_t itemsize) {
    int ndim = static_cast<int>(shape.size());
    for (int64_t extent : shape)
        if (extent == 0) return 'C';
    if (contiguous(shape.data(), strides.data(), ndim, itemsize, false)) return 'C';
    return contiguous(shape.data(), strides.data(), ndim, itemsize, true) ? 'F' : 'A';
}

// Every offset in the array fits 31 bits, and so does every index.
bool narrow(const array::Shape& shape, const array::Shape& strides, int64_t itemsize) {
    int64_t span = itemsize;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] >= INT32_MAX) return false;
        span += (shape[i] > 0 ? shape[i] - 1 : 0) * (strides[i] < 0 ? -strides[i] : strides[i]);
        if (span >= INT32_MAX) return false;
    }
    return true;
}

// From the buffer protocol's format; Void for what it has no single letter for.
core::DType dtype_of_format(const char* format, Py_ssize_t itemsize) {
    using core::DType;
    if (*format == '<' || *format == '=' || *format == '@' || *format == '|') ++format;
    bool complex = *format == 'Z';
    if (complex) ++format;
    if (*format == 0 || format[1] != 0) return DType::Void;
    switch (*format) {
        case '?':
            return DType::Bool;
        case 'e':
            return DType::Float16;
        case 'f':
            return complex ? DType::Complex64 : DType::Float32;
        case 'd':
            return complex ? DType::Complex128 : DType::Float64;
        case 'b':
        case 'h':
        case 'i':
        case 'l':
        case 'q':
            return itemsize == 1   ? DType::Int8
                   : itemsize == 2 ? DType::Int16
                   : itemsize == 4 ? DType::Int32
                                   : DType::Int64;
        case 'B':
        case 'H':
        case 'I':
        case 'L':
        case 'Q':
            return itemsize == 1   ? DType::UInt8
                   : itemsize == 2 ? DType::UInt16
                   : itemsize == 4 ? DType::UInt32
                                   : DType::UInt64;
        default:
            return DType::Void;
    }
}

// Anything that a C number may be converted to, with C's rules.
void write_number(double real, int64_t integer, bool is_real, bool is_unsigned, TypeRef type,
                  uint8_t* out) {
    auto put = [&](auto value) { std::memcpy(out, &value, sizeof value); };
    auto as_int = [&]() -> int64_t { return is_real ? static_cast<int64_t>(real) : integer; };
    auto as_double = [&]() -> double {
        return is_real       ? real
               : is_unsigned ? static_cast<double>(static_cast<uint64_t>(integer))
                             : static_cast<double>(integer);
    };
    switch (type->kind) {
        case TypeKind::Bool:
            put(static_cast<uint8_t>(is_real ? real != 0 : integer != 0));
            return;
        case TypeKind::Int:
        case TypeKind::UInt: {
            int64_t value = is_real && type->kind == TypeKind::UInt && real >= 9.2e18
                                ? static_cast<int64_t>(static_cast<uint64_t>(real))
                                : as_int();
            std::memcpy(out, &value,
                        static_cast<size_t>(type->bits / 8));  // little-endian: the low bytes
            return;
        }
        case TypeKind::Float:
            if (type->bits == 64)
                put(as_double());
            else if (type->bits == 32)
                put(static_cast<float>(as_double()));
            else
                put(core::half_bits(as_double()));
            return;
        default:
            core::throw_error(core::ErrorKind::TypeMismatch,
                              "kernel argument: a number cannot be {}", type->text);
    }
}

// Whether the number is a pattern of bits of `to`, a type of integers: programs give 0xffffffff for
// an int and -1 for an unsigned one, and mean the bits.
bool holds(TypeRef to, int64_t value, bool is_unsigned) {
    const int bits = to->bits;
    if (bits == 64) return true;
    if (is_unsigned || value >= 0) return static_cast<uint64_t>(value) >> bits == 0;
    return value >> (bits - 1) == -1;
}

bool is_integer(TypeRef type) {
    return type->kind == TypeKind::Int || type->kind == TypeKind::UInt;
}

// Numba cuts the upper bits off there, so that a kernel would run with another number.
[[noreturn]] void throw_too_large(size_t parameter, int64_t value, bool is_unsigned, TypeRef to) {
    const std::string got =
        is_unsigned ? fmt::format("{}", static_cast<uint64_t>(value)) : fmt::format("{}", value);
    const std::string text = fmt::format(
        "kernel argument {}: a number that {} does not hold: got {}, expected {} to {}", parameter,
        to->text, got, -(int64_t{1} << (to->bits - 1)), (int64_t{1} << to->bits) - 1);
    PyErr_SetString(PyExc_OverflowError, text.c_str());
    nb::raise_python_error();
}

// The value of one of NumPy's own scalars where it lies, or by Python's protocol.
int64_t numpy_integer(nb::handle object, const TypeRoute& route, bool& overflow) {
    const char* place = reinterpret_cast<const char*>(object.ptr()) + route.value_at;
    int64_t value = 0;
    if (route.value_at != 0) {
        uint32_t low = 0;
        std::memcpy(route.size == 8 ? static_cast<void*>(&value) : &low, place, route.size);
        if (route.size == 8) return value;
        return route.route == Route::NumpyUInt ? int64_t{low} : int64_t{static_cast<int32_t>(low)};
    }
    nb::object number = nb::steal(PyNumber_Index(object.ptr()));
    if (!number.is_valid()) nb::raise_python_error();
    int over = 0;
    value = PyLong_AsLongLongAndOverflow(number.ptr(), &over);
    if (over > 0) value = static_cast<int64_t>(PyLong_AsUnsignedLongLong(number.ptr()));
    overflow = over < 0 || PyErr_Occurred();
    return value;
}

bool read_integer(nb::handle object, const TypeRoute& route, size_t parameter,
                  NumberArgument& out) {
    bool overflow = false;
    if (route.route == Route::Int) {
        int over = 0;
        out.type = jit::types::int64();
        out.integer = PyLong_AsLongLongAndOverflow(object.ptr(), &over);
        if (over > 0) {
            out.integer = static_cast<int64_t>(PyLong_AsUnsignedLongLong(object.ptr()));
            out.type = jit::types::uint64();
        }
        overflow = over < 0 || (out.integer == -1 && PyErr_Occurred());
    } else {
        out.integer = numpy_integer(object, route, overflow);
        out.type = jit::types::integer(route.size * 8, route.route == Route::NumpyInt);
    }
    if (!overflow) return true;
    PyErr_Clear();
    core::throw_error(core::ErrorKind::TypeMismatch, "kernel argument {}: Int value is too large",
                      parameter);
}

}  // namespace

bool NumberArgument::fits(TypeRef to) const {
    if (!is_integer(to)) return to->kind == TypeKind::Bool || to->kind == TypeKind::Float;
    return !is_real && holds(to, integer, type->kind == TypeKind::UInt);
}

void NumberArgument::write(TypeRef to, uint8_t* out) const {
    write_number(is_real ? real : 0, is_real ? 0 : integer, is_real, type->kind == TypeKind::UInt,
                 to, out);
}

bool read_number(nb::handle object, const TypeRoute& route, size_t parameter, NumberArgument& out) {
    switch (route.route) {
        case Route::Bool:
            out.type = jit::types::boolean();
            out.integer = object.ptr() == Py_True;
            return true;
        case Route::NumpyBool:
            out.type = jit::types::boolean();
            out.integer = PyObject_IsTrue(object.ptr());
            return true;
        case Route::Int:
        case Route::NumpyInt:
        case Route::NumpyUInt:
            return read_integer(object, route, parameter, out);
        case Route::Float:
        case Route::NumpyFloat:
            out.is_real = true;
            out.real = PyFloat_AsDouble(object.ptr());
            if (out.real == -1 && PyErr_Occurred()) nb::raise_python_error();
            out.type = route.route == Route::Float || route.size == 8 ? jit::types::float64()
                       : route.size == 4                              ? jit::types::float32()
                                         : jit::types::floating(route.size * 8);
            return true;
        default:
            return false;
    }
}

TypeRef device_array_type(const array::Array& a) {
    if (a.dtype() == core::DType::Void) return nullptr;
    const auto item = static_cast<int64_t>(a.itemsize());
    return array_type(a.dtype(), a.ndim(), layout_of(a.shape(), a.strides(), item), false,
                      narrow(a.shape(), a.strides(), item));
}

StridedView::~StridedView() {
    static auto release = python_function<void (*)(Raw*)>("PyBuffer_Release");
    if (raw_.obj) release(&raw_);
}

bool StridedView::take(nb::handle object) {
    static auto get = python_function<int (*)(PyObject*, Raw*, int)>("PyObject_GetBuffer");
    if (get(object.ptr(), &raw_, kStridesFormat) == 0) return true;
    raw_.obj = nullptr;
    PyErr_Clear();
    return false;
}

KernelArguments::KernelArguments(nb::handle convert, bool place, size_t expected)
    : convert_(convert), place_(place) {
    types_.reserve(expected);
    top_.reserve(expected);
    arrays_.reserve(expected);
    layouts_.reserve(expected);
}

void KernelArguments::add(nb::handle object) {
    top_.push_back(convert(object, top_.size()));
    types_.push_back(top_.back().type);
}

KernelArguments::Item KernelArguments::convert(nb::handle object, size_t parameter) {
    using namespace jit;
    const TypeRoute& route = route_of(object);
    Item item;
    if (NumberArgument number; read_number(object, route, parameter, number)) {
        item.type = number.type;
        item.source = number.is_real ? Item::Source::Real : Item::Source::Integer;
        if (number.is_real)
            item.real = number.real;
        else
            item.integer = number.integer;
        return item;
    }
    switch (route.route) {
        case Route::Complex:
        case Route::NumpyComplex: {
            item.complex = {PyComplex_RealAsDouble(object.ptr()),
                            PyComplex_ImagAsDouble(object.ptr())};
            if (route.route == Route::NumpyComplex) {
                nb::object plain = nb::steal(PyObject_CallMethod(object.ptr(), "item", nullptr));
                if (!plain.is_valid()) nb::raise_python_error();
                item.complex = {PyComplex_RealAsDouble(plain.ptr()),
                                PyComplex_ImagAsDouble(plain.ptr())};
            }
            item.source = Item::Source::Complex;
            item.type = types::complex(route.route == Route::Complex ? 128 : route.size * 8);
            return item;
        }
        case Route::Array:
            return array(object, parameter);
        default:
            break;
    }
    if (object.is_none()) {
        item.type = types::none();
        return item;
    }
    if (PyTuple_CheckExact(object.ptr())) {
        std::vector<Item> parts;
        std::vector<TypeRef> item_types;
        for (nb::handle part : nb::borrow<nb::tuple>(object)) {
            parts.push_back(convert(part, parameter));
            item_types.push_back(parts.back().type);
        }
        item.source = Item::Source::Tuple;
        item.type = types::tuple(std::move(item_types));
        item.index = items_.size();
        item.count = parts.size();
        items_.insert(items_.end(), parts.begin(), parts.end());
        return item;
    }
    if (route.record) return record(object, parameter, true, true);
    if (route.route == Route::Bytes && PyObject_HasAttrString(object.ptr(), "strides")) {
        Item host = host_array(object, parameter, true, true);
        if (host.type) return host;
    }
    return other(object, parameter);
}

KernelArguments::Item KernelArguments::array(nb::handle object, size_t parameter) {
    const array::Array& a = *nb::inst_ptr<array::Array>(object);
    ArrayArgument argument;
    argument.parameter = parameter;
    argument.buffer = a.buffer();
    argument.address = a.data();
    argument.owner = nb::borrow(object);
    Layout layout{a.shape(), a.strides()};
    Item item;
    item.source = Item::Source::Array;
    item.index = arrays_.size();
    item.type = device_array_type(a);
    if (!item.type) {
        const auto itemsize = static_cast<int64_t>(a.itemsize());
        std::string element =
            nb::cast<std::string>(convert_.attr("element_code")(object.attr("dtype")));
        item.type = jit::types::array(jit::types::parse(element), a.ndim(),
                                      layout_of(layout.shape, layout.strides, itemsize), false,
                                      narrow(layout.shape, layout.strides, itemsize));
    }
    arrays_.push_back(std::move(argument));
    layouts_.push_back(std::move(layout));
    return item;
}

KernelArguments::Item KernelArguments::host_array(nb::handle object, size_t parameter, bool copy_in,
                                                  bool copy_out) {
    auto view = std::make_unique<StridedView>();
    Item item;
    if (!view->take(object)) return item;
    Layout layout;
    for (int i = 0; i < view->ndim(); ++i) {
        layout.shape.push_back(view->shape()[i]);
        layout.strides.push_back(view->strides()[i]);
    }
    Py_ssize_t itemsize = view->itemsize();
    char order = layout_of(layout.shape, layout.strides, itemsize);
    bool readonly = view->readonly();
    ArrayArgument argument;
    if (order == 'A' && (!place_ || !copy_out)) {
        // The device gets a compact copy, whose contents return to the array's own places.
        nb::object compact = convert_.attr("compact")(object);
        argument.target = nb::borrow(object);
        Item packed = host_array(compact, parameter, copy_in, copy_out);
        arrays_.back().target = nb::borrow(object);
        return packed;
    }
    argument.parameter = parameter;
    argument.owner = nb::borrow(object);
    argument.copy_in = copy_in;
    argument.copy_out = copy_out && !readonly;
    argument.address = reinterpret_cast<core::DevicePtr>(view->data());
    core::DType dtype = dtype_of_format(view->format(), itemsize);
    bool small = narrow(layout.shape, layout.strides, itemsize);
    int ndim = view->ndim();
    if (dtype == core::DType::Void) {
        std::string element =
            nb::cast<std::string>(convert_.attr("element_code")(object.attr("dtype")));
        item.type = jit::types::array(jit::types::parse(element), ndim, order, readonly, small);
    } else {
        item.type = array_type(dtype, ndim, order, readonly, small);
    }
    item.source = Item::Source::Array;
    item.index = arrays_.size();
    argument.host = std::move(view);
    arrays_.push_back(std::move(argument));
    layouts_.push_back(std::move(layout));
    return item;
}

KernelArguments::Item KernelArguments::record(nb::handle object, size_t parameter, bool copy_in,
                                              bool copy_out) {
    Item item = host_array(object, parameter, copy_in, copy_out);
    if (!item.type || item.type->kind != TypeKind::Array ||
        item.type->element->kind != TypeKind::Record)
        core::throw_error(core::ErrorKind::TypeMismatch,
                          "kernel argument {}: a record with fields is expected", parameter);
    // NumPy calls the memory of a scalar read-only, and yet assigns to fields there.
    arrays_[item.index].copy_out = copy_out;
    item.type = item.type->element;
    item.source = Item::Source::Record;
    return item;
}

// What Python has to look at: hints, named tuples, enumerations, records, foreign device arrays.
KernelArguments::Item KernelArguments::other(nb::handle object, size_t parameter) {
    nb::object converted = convert_.attr("convert")(object);
    nb::tuple parts = nb::cast<nb::tuple>(converted);
    std::string kind = nb::cast<std::string>(parts[0]);
    if (kind == "hint") {
        bool in = nb::cast<bool>(parts[2]), out = nb::cast<bool>(parts[3]);
        Item item = route_of(parts[1]).record ? record(parts[1], parameter, in, out)
                                              : host_array(parts[1], parameter, in, out);
        return item.type ? item : convert(parts[1], parameter);
    }
    if (kind == "bytes") {
        Item item;
        item.source = Item::Source::Bytes;
        item.type = jit::types::parse(nb::cast<std::string>(parts[1]));
        item.index = bytes_.size();
        bytes_.push_back(nb::borrow(parts[2]));
        return item;
    }
    Item item = convert(parts[1], parameter);
    if (kind == "named") {
        std::vector<std::string> names;
        for (nb::handle name : nb::cast<nb::tuple>(parts[3]))
            names.push_back(nb::cast<std::string>(name));
        item.type = jit::types::named_tuple(nb::cast<std::string>(parts[2]), std::move(names),
                                            item.type->items);
    }
    return item;
}

void* KernelArguments::keep(const void* bytes, size_t nbytes, size_t align) {
    size_t at = (used_ + align - 1) / align * align;
    uint8_t* place = inline_ + at;
    if (at + nbytes > sizeof inline_) {
        blocks_.push_back(
            std::make_unique<std::max_align_t[]>(nbytes / sizeof(std::max_align_t) + 1));
        place = reinterpret_cast<uint8_t*>(blocks_.back().get());
    } else {
        used_ = at + nbytes;
    }
    if (bytes) std::memcpy(place, bytes, nbytes);
    return place;
}

void KernelArguments::pack(const std::vector<TypeRef>& parameters) {
    pointers_.reserve(parameters.size() + 2);
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (top_[i].source == Item::Source::Record && parameters[i] == top_[i].type) {
            core::DevicePtr address = arrays_[top_[i].index].address;
            pointers_.push_back(keep(&address, sizeof address, alignof(core::DevicePtr)));
            continue;
        }
        jit::Layout layout = jit::layout_of(parameters[i]);
        auto* place =
            static_cast<uint8_t*>(keep(nullptr, layout.size, std::max<size_t>(layout.align, 1)));
        write(top_[i], parameters[i], place, i);
        pointers_.push_back(place);
    }
}

void KernelArguments::write(const Item& item, TypeRef type, uint8_t* out, size_t parameter) const {
    auto mismatch = [&] {
        core::throw_error(core::ErrorKind::TypeMismatch,
                          "kernel argument {}: No conversion from {} to {}", parameter,
                          item.type->text, type->text);
    };
    switch (item.source) {
        case Item::Source::None:
            if (type->kind != TypeKind::None) mismatch();
            *out = 0;
            return;
        case Item::Source::Integer:
            if (type->kind == TypeKind::Pointer) {
                std::memcpy(out, &item.integer, 8);
                return;
            }
            if (type->kind == TypeKind::Complex) {
                TypeRef part = jit::types::floating(type->bits / 2);
                write_number(0, item.integer, false, item.type->kind == TypeKind::UInt, part, out);
                std::memset(out + type->bits / 16, 0, static_cast<size_t>(type->bits / 16));
                return;
            }
            if (const bool is_unsigned = item.type->kind == TypeKind::UInt;
                is_integer(type) && !holds(type, item.integer, is_unsigned))
                throw_too_large(parameter, item.integer, is_unsigned, type);
            write_number(0, item.integer, false, item.type->kind == TypeKind::UInt, type, out);
            return;
        case Item::Source::Real:
            if (is_integer(type)) mismatch();
            if (type->kind == TypeKind::Complex) {
                write_number(item.real, 0, true, false, jit::types::floating(type->bits / 2), out);
                std::memset(out + type->bits / 16, 0, static_cast<size_t>(type->bits / 16));
                return;
            }
            write_number(item.real, 0, true, false, type, out);
            return;
        case Item::Source::Complex: {
            if (type->kind != TypeKind::Complex) mismatch();
            TypeRef part = jit::types::floating(type->bits / 2);
            write_number(item.complex.re, 0, true, false, part, out);
            write_number(item.complex.im, 0, true, false, part, out + type->bits / 16);
            return;
        }
        case Item::Source::Array:
            if (type->kind != TypeKind::Array || type->element != item.type->element ||
                type->ndim != item.type->ndim)
                mismatch();
            if (type->layout != 'A' && type->layout != item.type->layout) {
                const Layout& own = layouts_[item.index];
                bool fits = contiguous(own.shape.data(), own.strides.data(), type->ndim,
                                       static_cast<int64_t>(jit::layout_of(type->element).size),
                                       type->layout == 'F');
                if (!fits && item.type->layout != 'C') mismatch();
                if (!fits && type->layout == 'F' && type->ndim > 1) mismatch();
            }
            write_array(arrays_[item.index], type, out);
            return;
        case Item::Source::Bytes: {
            if (type != item.type) mismatch();
            char* bytes = nullptr;
            Py_ssize_t size = 0;
            PyBytes_AsStringAndSize(bytes_[item.index].ptr(), &bytes, &size);
            std::memcpy(out, bytes, static_cast<size_t>(size));
            return;
        }
        case Item::Source::Record:  // inside a tuple: by value
            if (type != item.type) mismatch();
            std::memcpy(out, arrays_[item.index].host->data(), static_cast<size_t>(type->nbytes));
            return;
        case Item::Source::Tuple: {
            if (type->kind != TypeKind::Tuple || type->items.size() != item.count) mismatch();
            size_t at = 0;
            for (size_t i = 0; i < item.count; ++i) {
                jit::Layout layout = jit::layout_of(type->items[i]);
                at = (at + layout.align - 1) / layout.align * layout.align;
                write(items_[item.index + i], type->items[i], out + at, parameter);
                at += layout.size;
            }
            return;
        }
    }
}

void KernelArguments::write_array(const ArrayArgument& array, TypeRef type, uint8_t* out) const {
    const Layout& layout = layouts_[static_cast<size_t>(&array - arrays_.data())];
    std::memcpy(out, &array.address, 8);
    uint8_t* at = out + 8;
    auto put = [&](const array::Shape& values) {
        for (int64_t value : values) {
            std::memcpy(at, &value, type->narrow ? 4 : 8);
            at += type->narrow ? 4 : 8;
        }
        if (values.empty()) at += type->narrow ? 4 : 8;
    };
    put(layout.shape);
    if (type->layout == 'A') put(layout.strides);
}

}  // namespace trilane::bindings
