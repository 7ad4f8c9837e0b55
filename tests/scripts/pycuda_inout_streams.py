"""PyCUDA: In, Out and InOut, page-locked memory, two streams with asynchronous copies, constants."""

import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule

drv.init()
assert drv.Device.count() >= 1
device = drv.Device(0)
context = device.make_context()
try:
    attributes = device.get_attributes()
    assert attributes[drv.device_attribute.WARP_SIZE] == 32
    assert device.compute_capability()[0] >= 5
    free, total = drv.mem_get_info()
    assert 0 < free <= total

    module = SourceModule(
        """
        __constant__ float factor[2];
        __device__ int calls;
        extern "C" {
        __global__ void scale(float *data, int n)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) data[i] = data[i] * factor[0] + factor[1];
            if (i == 0) atomicAdd(&calls, 1);
        }
        __global__ void divmod(int *quotient, int *remainder, const int *a, const int *b)
        {
            const int i = threadIdx.x;
            quotient[i] = a[i] / b[i];
            remainder[i] = a[i] % b[i];
        }
        }
        """,
        no_extern_c=True,
        options=["--use_fast_math"],
    )
    pointer, nbytes = module.get_global("factor")
    assert nbytes == 8
    drv.memcpy_htod(pointer, np.array([3, 0.5], np.float32))

    # two halves on two streams
    n = 100_000
    host = drv.pagelocked_empty(n, np.float32)
    host[:] = np.arange(n)
    result = drv.pagelocked_zeros(n, np.float32)
    memory = drv.mem_alloc(host.nbytes)
    scale = module.get_function("scale")
    streams = [drv.Stream(), drv.Stream()]
    half = n // 2
    for k, stream in enumerate(streams):
        part = slice(k * half, (k + 1) * half)
        address = int(memory) + k * half * 4
        drv.memcpy_htod_async(address, host[part], stream)
        scale(
            np.intp(address),
            np.int32(half),
            block=(256, 1, 1),
            grid=(-(-half // 256), 1),
            stream=stream,
        )
        drv.memcpy_dtoh_async(result[part], address, stream)
    for stream in streams:
        stream.synchronize()
        assert stream.is_done()
    np.testing.assert_allclose(result, np.arange(n, dtype=np.float32) * 3 + 0.5, rtol=1e-6)
    calls = np.zeros(1, np.int32)
    drv.memcpy_dtoh(calls, module.get_global("calls")[0])
    assert calls[0] == 2

    # prepared calls
    scale.prepare("Pi")
    milliseconds = scale.prepared_timed_call((-(-n // 256), 1), (256, 1, 1), memory, n)()
    assert milliseconds >= 0
    scale.prepared_async_call((1, 1), (32, 1, 1), streams[0], memory, 0)
    context.synchronize()

    a = np.array([7, -7, 7, -7], np.int32)
    b = np.array([2, 2, -2, -2], np.int32)
    q, r = np.empty_like(a), np.empty_like(a)
    module.get_function("divmod")(drv.Out(q), drv.Out(r), drv.In(a), drv.In(b), block=(4, 1, 1))
    np.testing.assert_array_equal(q, [3, -3, -3, 3])
    np.testing.assert_array_equal(r, [1, -1, 1, -1])
    data = np.ones(5, np.float32)
    scale(drv.InOut(data), np.int32(4), block=(8, 1, 1))
    np.testing.assert_array_equal(data, [3.5, 3.5, 3.5, 3.5, 1])
    memory.free()
finally:
    context.pop()
    context.detach()
print("ok")
