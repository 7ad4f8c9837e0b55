"""Vector addition with CuPy: NumPy's arrays on the GPU."""

import cupy as cp
import numpy as np

n = 400
a = cp.random.randn(n).astype(cp.float32)
b = cp.random.randn(n).astype(cp.float32)
c = a + b

assert np.array_equal(cp.asnumpy(c), cp.asnumpy(a) + cp.asnumpy(b)), "wrong sum"
assert cp.allclose(c - a, b, atol=1e-5), "wrong difference"
name = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)["name"]
name = name.decode() if isinstance(name, bytes) else name
print(f"CuPy style on {name}: {n} sums checked against NumPy")
