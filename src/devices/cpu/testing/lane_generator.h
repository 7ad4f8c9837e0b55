// For tests: random kernels whose result does not depend on the order in which threads run, and is
// the same on any GPU with independent thread scheduling: no races, no undefined behaviour.
#pragma once

#include <string>
#include <vector>

#include "core/device.h"
#include "devices/cpu/testing/lane_expressions.h"

namespace trilane::cpu::testing {

// A piece of text with pieces inside; any piece but the roots can be dropped and the rest is a
// kernel again, or does not compile. '@' stands for the kernel's name.
struct Piece {
    std::string open;
    std::vector<Piece> body;
    std::string close;
    bool fixed = false;  // worth no try to drop it
};

struct GeneratedKernel {
    Piece root;
    core::Dim3 grid, block;
    int elements = 0;           // N: elements of each own buffer
    int n = 0, trips = 0;       // parameters: guard, trips of uniform loops
    int width = 0, height = 0;  // guard of two-dimensional kernels
};

GeneratedKernel generate_kernel(uint32_t seed);

// What every module of generated kernels begins with.
std::string common_text();
std::string text_of(const GeneratedKernel& kernel, const std::string& name);

constexpr int kMaxElements = 6144;
constexpr int kInputFactor = 10;  // input buffers hold this many elements for each of N, and 64
constexpr int kAccumulators = 64;
constexpr int kFlagsPerElement = 4;

struct Record {
    int a;
    float b;
    short c;
    signed char d[2];
};

}  // namespace trilane::cpu::testing
