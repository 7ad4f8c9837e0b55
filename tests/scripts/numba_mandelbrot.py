"""Numba: the Mandelbrot set with device functions and a two-dimensional grid-stride loop."""

import numpy as np
from numba import cuda, uint8, uint32


@cuda.jit(device=True)
def mandel(x, y, max_iters):
    c = complex(x, y)
    z = 0.0j
    for i in range(max_iters):
        z = z * z + c
        if (z.real * z.real + z.imag * z.imag) >= 4:
            return i
    return max_iters


@cuda.jit((np.float64, np.float64, np.float64, np.float64, uint8[:, :], uint32))
def mandel_kernel(min_x, max_x, min_y, max_y, image, iters):
    height, width = image.shape
    pixel_x = (max_x - min_x) / width
    pixel_y = (max_y - min_y) / height
    start_x, start_y = cuda.grid(2)
    stride_x = cuda.gridDim.x * cuda.blockDim.x
    stride_y = cuda.gridDim.y * cuda.blockDim.y
    for x in range(start_x, width, stride_x):
        real = min_x + x * pixel_x
        for y in range(start_y, height, stride_y):
            image[y, x] = mandel(real, min_y + y * pixel_y, iters)


image = np.zeros((64, 96), dtype=np.uint8)
mandel_kernel[(4, 2), (16, 8)](-2.0, 1.0, -1.0, 1.0, image, 20)


def reference(x, y, iters):
    c, z = complex(x, y), 0j
    for i in range(iters):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
    return iters


expected = np.array(
    [
        [reference(-2.0 + x * 3.0 / 96, -1.0 + y * 2.0 / 64, 20) for x in range(96)]
        for y in range(64)
    ]
)
assert (image != expected).mean() < 0.01, (image != expected).sum()
print("ok")
