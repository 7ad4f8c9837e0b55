// CUDA's atomics for kernels: everything in it is known without an include.
#pragma once
