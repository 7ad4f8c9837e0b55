// <cuda_pipeline.h> for kernels: the primitives, and the pipeline of one thread.
#pragma once

#include "cuda_pipeline_primitives.h"
#include "cuda/pipeline"
