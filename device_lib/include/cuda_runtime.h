// <cuda_runtime.h> for kernels.
#pragma once
#include "cuda_runtime_api.h"
