// <cuda.h> for kernels: the version; the driver's API is the host's.
#pragma once

#define CUDA_VERSION 13000
