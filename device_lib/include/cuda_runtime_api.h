// <cuda_runtime_api.h> for kernels: the version; the runtime's API is the host's.
#pragma once

#define CUDART_VERSION 13000
