"""ElementwiseKernel, ReductionKernel, RawKernel, RawModule."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupy._kernel.parameters import parse_parameter, parse_parameters, resolve_types


def test_parameters_are_read():
    x, y = parse_parameters("raw T x, float32 y")
    assert (x.name, x.placeholder, x.raw) == ("x", "T", True)
    assert (y.name, y.dtype, y.raw) == ("y", np.dtype("f"), False)
    assert parse_parameters("  ") == ()


@pytest.mark.parametrize("text", ["T", "T i", "T n", "T _x", "cooked T x", "T 3x", "3 x", "int x"])
def test_bad_parameters_are_refused(text):
    with pytest.raises(ValueError):
        parse_parameter(text)


def test_types_follow_arrays_then_scalars():
    params = parse_parameters("T x, T y, U z")
    f, d = np.dtype("f"), np.dtype("d")
    ins, outs, bound = resolve_types(
        params, parse_parameters("T w"), [f, None, None], [None], [None, d, d]
    )
    assert ins == [f, f, d] and outs == [f] and bound == {"T": f, "U": d}
    with pytest.raises(TypeError, match="mismatched"):
        resolve_types(params, (), [f, d, d], [], [None] * 3)


def test_elementwise_broadcasts_and_keeps_strides():
    kernel = cp.ElementwiseKernel("T x, T y", "T z", "z = x * 2 + y", "axpy")
    x, y = cp.arange(12.0).reshape(3, 4), cp.arange(4.0)
    np.testing.assert_array_equal(kernel(x, y).get(), x.get() * 2 + y.get())
    np.testing.assert_array_equal(kernel(x.T, 1).get(), x.get().T * 2 + 1)
    out = cp.zeros((4, 3)).T
    assert kernel(x[:, ::-1], y, out) is out
    np.testing.assert_array_equal(out.get(), x.get()[:, ::-1] * 2 + y.get())
    assert kernel(cp.zeros((0, 4)), y).shape == (0, 4)


def test_elementwise_raw_size_and_index():
    kernel = cp.ElementwiseKernel("raw T x", "T z", "z = x[n - 1 - i] + x.size()", "reverse")
    x = cp.arange(10.0)[::2]
    np.testing.assert_array_equal(kernel(x, size=5).get(), x.get()[::-1] + 5)
    with pytest.raises(ValueError, match="^Loop size is undecided"):
        kernel(x)
    plain = cp.ElementwiseKernel("T x", "T z", "z = x", "copy_")
    with pytest.raises(ValueError, match="^Specified 'size' can"):
        plain(x, size=3)


def test_elementwise_two_outputs_options_and_preamble():
    kernel = cp.ElementwiseKernel(
        "float64 x", "float64 s, int32 k", "s = twice(x); k = SEVEN", "pair",
        preamble="__device__ double twice(double v) { return 2 * v; }", options=("-DSEVEN=7",),
    )  # fmt: skip
    s, k = kernel(cp.arange(3.0))
    assert s.get().tolist() == [0, 2, 4] and k.get().tolist() == [7, 7, 7]


def test_elementwise_loop_texts_and_no_return():
    kernel = cp.ElementwiseKernel(
        "T x", "raw T total", "sum += x", "count", loop_prep="T sum = 0",
        after_loop="atomicAdd(&total[0], sum)", no_return=True,
    )  # fmt: skip
    total = cp.zeros(1)
    assert kernel(cp.ones(1000), total) is None
    assert float(total[0]) == 1000


@pytest.mark.parametrize("dtype", ["?", "b", "H", "i", "q", "e", "f", "d", "F", "D"])
def test_elementwise_dtypes(dtype):
    host = np.array([0, 1, 1, 0, 1], dtype)
    kernel = cp.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add_")
    np.testing.assert_array_equal(kernel(cp.asarray(host), host[1]).get(), host + host[1])


def test_elementwise_refuses_wrong_arguments():
    kernel = cp.ElementwiseKernel("T x, T y", "T z", "z = x", "k")
    with pytest.raises(TypeError, match="Wrong number of arguments"):
        kernel(cp.ones(2))
    with pytest.raises(TypeError, match="mismatched"):
        kernel(cp.ones(2), cp.ones(2, "f"))
    with pytest.raises(TypeError):
        kernel(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="Invalid kernel name"):
        cp.ElementwiseKernel("T x", "T z", "z = x", "1")


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2)])
@pytest.mark.parametrize("shape", [(3, 4, 5), (64, 3, 80), (2, 1, 3000)])
def test_reduction_axes(shape, axis):
    kernel = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm2")
    host = np.random.RandomState(0).rand(*shape)
    expected = np.sqrt((host * host).sum(axis))
    x = cp.asarray(host)
    np.testing.assert_allclose(kernel(x, axis=axis).get(), expected, rtol=1e-12)
    kept = kernel(x, axis=axis, keepdims=True)
    assert kept.shape == (host.sum(axis, keepdims=True)).shape
    flipped = kernel(x.transpose(2, 1, 0), axis=None if axis is None else 0)
    expected = np.sqrt((host * host).transpose(2, 1, 0).sum(None if axis is None else 0))
    np.testing.assert_allclose(flipped.get(), expected, rtol=1e-12)


def test_reduction_of_nothing_and_struct_type():
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    assert float(total(cp.zeros(0))) == 0
    least = cp.ReductionKernel("T x", "T y", "x", "a < b ? a : b", "y = a", None, "least")
    assert float(least(cp.arange(5.0) + 2)) == 2
    with pytest.raises(ValueError, match="identity"):
        least(cp.zeros(0))
    first = cp.ReductionKernel(
        "T x", "int64 where", "best(x, _J)", "a.v >= b.v ? a : b", "where = a.i", "best(-1e300, -1)",
        "argbest", "best",
        preamble="struct best { double v; long long i; __device__ best() {}"
        " __device__ best(double v_, long long i_) : v(v_), i(i_) {} };",
    )  # fmt: skip
    host = np.random.RandomState(1).rand(50000)
    assert int(first(cp.asarray(host))) == host.argmax()


ADD = r"""
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
__device__ int counter[4];
template <typename T> __global__ void scale(T* x, T factor) { x[threadIdx.x] *= factor; }
"""


def test_raw_kernel_runs_and_has_attributes():
    kernel = cp.RawKernel(ADD, "add")
    x, y = cp.arange(400, dtype="f"), cp.ones(400, "f")
    z = cp.empty(400, "f")
    kernel((4,), (128,), (x, y, z, np.int32(400)))
    np.testing.assert_array_equal(z.get(), np.arange(400, dtype="f") + 1)
    kernel((4,), (128,), (x, y, z, 400))
    assert kernel.name == "add" and kernel.max_threads_per_block >= 128
    assert set(kernel.attributes) >= {"num_regs", "shared_size_bytes", "local_size_bytes"}
    with pytest.raises(TypeError, match="n"):
        kernel((4,), (128,), (x, y, z))
    with pytest.raises(cp.cuda.driver.CUDADriverError):
        kernel((1,), (2048,), (x, y, z, 400))


def test_raw_module_templates_globals_and_errors():
    module = cp.RawModule(code=ADD, name_expressions=("scale<double>", "scale<float>"))
    x = cp.arange(3.0)
    module.get_function("scale<double>")((1,), (3,), (x, 2.0))
    assert x.get().tolist() == [0, 2, 4]
    pointer = module.get_global("counter")
    view = cp.ndarray((4,), "i", pointer)
    view[...] = cp.arange(4, dtype="i")
    assert view.get().tolist() == [0, 1, 2, 3]
    with pytest.raises(cp.cuda.driver.CUDADriverError, match="named symbol not found"):
        module.get_function("nothing")
    with pytest.raises(cp.cuda.compiler.CompileException, match="error"):
        cp.RawKernel("__global__ void f( {", "f").compile()
    with pytest.raises(TypeError, match="Exactly one"):
        cp.RawModule()


def test_raw_module_of_a_file(tmp_path):
    path = tmp_path / "add.cu"
    path.write_text(ADD)
    z = cp.empty(2, "f")
    cp.RawModule(path=str(path)).get_function("add")(
        (1,), (2,), (cp.ones(2, "f"), cp.ones(2, "f"), z, 2)
    )
    assert z.get().tolist() == [2, 2]


def test_raw_kernel_float_parameter_takes_python_float():
    kernel = cp.RawKernel(
        'extern "C" __global__ void f(float* x, float v) { x[threadIdx.x] = v; }', "f"
    )
    x = cp.zeros(2, "f")
    kernel((1,), (2,), (x, 0.5))
    assert x.get().tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "make",
    [
        lambda: cp.ElementwiseKernel("T x", "T z", "z = wrong(x)", "user_map"),
        lambda: cp.ReductionKernel("T x", "T z", "wrong(x)", "a + b", "z = a", "0", "user_sum"),
    ],
    ids=["elementwise", "reduction"],
)
def test_text_that_does_not_compile_raises_compile_exception(make):
    with pytest.raises(cp.cuda.compiler.CompileException) as caught:
        make()(cp.zeros(2))
    text = str(caught.value)
    assert "wrong" in text and "^" in text
    first = text.splitlines()[0]
    assert text.count(first) == 1
