"""Numba: a stencil iterated on device arrays, records, local arrays and swaps of buffers."""

import numpy as np
from numba import cuda, float64


@cuda.jit
def heat(buf_0, buf_1, timesteps, k):
    i = cuda.grid(1)
    if i >= len(buf_0):
        return
    grid = cuda.cg.this_grid()
    for step in range(timesteps):
        if (step % 2) == 0:
            data, next_data = buf_0, buf_1
        else:
            data, next_data = buf_1, buf_0
        curr_temp = data[i]
        if i == 0:
            next_temp = curr_temp + k * (data[i + 1] - (2 * curr_temp))
        elif i == len(data) - 1:
            next_temp = curr_temp + k * (data[i - 1] - (2 * curr_temp))
        else:
            next_temp = curr_temp + k * (data[i - 1] - (2 * curr_temp) + data[i + 1])
        next_data[i] = next_temp
        grid.sync()


size = 101
start = np.zeros(size)
start[size // 2] = 10000
buf_0 = cuda.to_device(start)
buf_1 = cuda.device_array_like(buf_0)
heat.forall(len(start))(buf_0, buf_1, 100, 0.25)

expected = start.copy()
for _ in range(100):
    padded = np.pad(expected, 1)
    expected = expected + 0.25 * (padded[:-2] - 2 * expected + padded[2:])
np.testing.assert_allclose(buf_0.copy_to_host(), expected, rtol=1e-12)

particle = np.dtype([("x", np.float64), ("v", np.float64), ("hits", np.int32)], align=True)


@cuda.jit
def move(particles, dt):
    i = cuda.grid(1)
    history = cuda.local.array(4, float64)
    if i < particles.size:
        for k in range(4):
            particles[i].x += particles[i].v * dt
            history[k] = particles[i].x
        if particles[i].x > 1.0:
            particles[i].v = -particles[i].v
            particles[i].hits += 1
        particles[i].x = max(history[0], history[1], history[2], history[3])


particles = np.zeros(10, particle)
particles["v"] = np.arange(10)
move[1, 32](particles, 0.1)
np.testing.assert_allclose(particles["x"], np.arange(10) * 0.4)
np.testing.assert_array_equal(particles["hits"], np.arange(10) * 0.4 > 1)
print("ok")
