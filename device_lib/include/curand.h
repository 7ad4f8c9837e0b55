// curand.h for kernels: all of it is in curand_kernel.h.
#pragma once
#include "curand_kernel.h"
