// The plain C++ that kernels are compared with; compiled with -O3 -march=native.
#pragma once

namespace bench {

void add(const float* a, const float* b, float* c, int n);
void matmul(const float* a, const float* b, float* c, int n);

}  // namespace bench
