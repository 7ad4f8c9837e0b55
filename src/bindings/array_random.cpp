// Random arrays: each function returns the array and how many blocks of the generator it used.
#include "array/random.h"

#include "bindings/array_convert.h"
#include "core/error.h"

namespace trilane::bindings {

using core::ErrorKind;
using core::throw_error;
using nb::arg;

namespace {

// Any Python integer, by its low 64 bits.
uint64_t low_bits(nb::handle number) {
    nb::object index = nb::steal(PyNumber_Index(number.ptr()));
    if (!index.is_valid()) nb::raise_python_error();
    uint64_t bits = PyLong_AsUnsignedLongLongMask(index.ptr());
    if (PyErr_Occurred()) nb::raise_python_error();
    return bits;
}

nb::object floats(const char* kind, nb::object shape, nb::object dtype, double a, double b,
                  nb::object seed, nb::object offset) {
    int64_t blocks = 0;
    array::Array result =
        array::random_floats(kind, shape_from_python(shape), dtype_from_python(dtype).dtype, a, b,
                             {low_bits(seed), low_bits(offset)}, blocks);
    return nb::make_tuple(wrap(std::move(result)), blocks);
}

nb::object integers(nb::object shape, nb::object dtype, nb::object low, nb::object high,
                    nb::object seed, nb::object offset) {
    if (nb::cast<bool>(low.attr("__ge__")(high)))
        throw_error(ErrorKind::InvalidArgument, "low >= high");
    int64_t blocks = 0;
    array::Array result =
        array::random_integers(shape_from_python(shape), dtype_from_python(dtype).dtype,
                               static_cast<int64_t>(low_bits(low)), low_bits(high - low),
                               {low_bits(seed), low_bits(offset)}, blocks);
    return nb::make_tuple(wrap(std::move(result)), blocks);
}

}  // namespace

void bind_array_random(nb::module_& m) {
    m.def(
        "random_uniform",
        [](nb::object shape, nb::object dtype, double low, double high, nb::object seed,
           nb::object offset) { return floats("uniform", shape, dtype, low, high, seed, offset); },
        arg("shape"), arg("dtype"), arg("low"), arg("high"), arg("seed"), arg("offset"));
    m.def(
        "random_normal",
        [](nb::object shape, nb::object dtype, double loc, double scale, nb::object seed,
           nb::object offset) { return floats("normal", shape, dtype, loc, scale, seed, offset); },
        arg("shape"), arg("dtype"), arg("loc"), arg("scale"), arg("seed"), arg("offset"));
    m.def(
        "random_exponential",
        [](nb::object shape, nb::object dtype, double scale, nb::object seed, nb::object offset) {
            return floats("exponential", shape, dtype, scale, 0, seed, offset);
        },
        arg("shape"), arg("dtype"), arg("scale"), arg("seed"), arg("offset"));
    m.def("random_integers", &integers, arg("shape"), arg("dtype"), arg("low"), arg("high"),
          arg("seed"), arg("offset"));
    m.def(
        "random_bits",
        [](nb::object shape, nb::object dtype, nb::object seed, nb::object offset) {
            int64_t blocks = 0;
            array::Array result =
                array::random_integers(shape_from_python(shape), dtype_from_python(dtype).dtype, 0,
                                       0, {low_bits(seed), low_bits(offset)}, blocks);
            return nb::make_tuple(wrap(std::move(result)), blocks);
        },
        arg("shape"), arg("dtype"), arg("seed"), arg("offset"));
    m.def(
        "random_permutation",
        [](int64_t n, nb::object seed, nb::object offset) {
            int64_t blocks = 0;
            array::Array result =
                array::random_permutation(n, {low_bits(seed), low_bits(offset)}, blocks);
            return nb::make_tuple(wrap(std::move(result)), blocks);
        },
        arg("n"), arg("seed"), arg("offset"));
}

}  // namespace trilane::bindings
