// CUDA's built-in variables for kernels: everything in it is known without an include.
#pragma once
