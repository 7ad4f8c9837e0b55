"""Numba: pi by random numbers of every thread, ufunc-style loops with math, ranks and bools."""

import math

import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32


@cuda.jit
def compute_pi(states, iterations, out):
    thread_id = cuda.grid(1)
    inside = 0
    for _ in range(iterations):
        x = xoroshiro128p_uniform_float32(states, thread_id)
        y = xoroshiro128p_uniform_float32(states, thread_id)
        if x**2 + y**2 <= 1.0:
            inside += 1
    out[thread_id] = 4.0 * inside / iterations


threads, blocks = 64, 8
states = create_xoroshiro128p_states(threads * blocks, seed=1)
out = np.zeros(threads * blocks, dtype=np.float32)
compute_pi[blocks, threads](states, 500, out)
assert abs(out.mean() - math.pi) < 0.02, out.mean()


@cuda.jit
def black_scholes(call, price, strike, years, rate, volatility):
    i = cuda.grid(1)
    if i >= price.shape[0]:
        return
    root = math.sqrt(years[i])
    d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility**2) * years[i]) / (
        volatility * root
    )
    d2 = d1 - volatility * root
    n1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
    n2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
    call[i] = price[i] * n1 - strike[i] * math.exp(-rate * years[i]) * n2


n = 500
rng = np.random.default_rng(5)
price, strike, years = rng.uniform(5, 30, n), rng.uniform(1, 100, n), rng.uniform(0.25, 10, n)
call = np.zeros(n)
black_scholes[-(-n // 64), 64](call, price, strike, years, 0.02, 0.3)
erf = np.vectorize(math.erf)
d1 = (np.log(price / strike) + (0.02 + 0.045) * years) / (0.3 * np.sqrt(years))
d2 = d1 - 0.3 * np.sqrt(years)
n1, n2 = 0.5 * (1 + erf(d1 / np.sqrt(2))), 0.5 * (1 + erf(d2 / np.sqrt(2)))
expected = price * n1 - strike * np.exp(-0.02 * years) * n2
# The two terms, up to 100, can cancel down to 1e-12.
np.testing.assert_allclose(call, expected, rtol=1e-9, atol=1e-12)
print("ok")
