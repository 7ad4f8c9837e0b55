// CUDA's vector types for kernels: everything in it is known without an include.
#pragma once
