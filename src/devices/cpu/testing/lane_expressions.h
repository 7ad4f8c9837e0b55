// For tests: random CUDA expressions without undefined behaviour, over the variables, buffers and
// device functions that lane_generator.h declares in each kernel.
#pragma once

#include <string>
#include <vector>

#include "devices/cpu/testing/random_source.h"

namespace trilane::cpu::testing {

enum class Type { I32, U32, I64, U64, F32, F64 };

// What a kernel may hold; each kernel has a random part of it, so that features meet in all ways.
struct Features {
    bool floats, doubles, wide, small, division, calls, arrays, structs, pointers, vectors, atomics,
        shared, warp, waiting, returns, switches, loops, jumps, strided;
};
Features random_features(RandomSource& random);

// Names in sight where an expression stands.
struct Scope {
    std::string index = "i";            // the element that the thread owns, 0 to N - 1
    std::vector<std::string> counters;  // of loops around, ints
    std::vector<std::string> uniform = {"n", "trips", "w0", "w1", "(int)blockIdx.x"};
};

class Expressions {
  public:
    Expressions(RandomSource& random, const Features& features) : random_(random), has_(features) {}

    std::string value(Type type, int depth, const Scope& scope);
    std::string condition(int depth, const Scope& scope);
    // The same for every thread of the block.
    std::string uniform(const Scope& scope);
    std::string uniform_condition(const Scope& scope);
    // An index that is good for every input buffer.
    std::string input_index(const Scope& scope);
    Type type();
    std::string variable(Type type);

  private:
    std::string leaf(Type type, const Scope& scope);
    std::string load(Type type, const Scope& scope);
    std::string converted(Type type, const Scope& scope);
    std::string constant(Type type);
    std::string call(const Scope& scope);
    std::string integer32(bool with_sign, int depth, const Scope& scope);
    std::string integer64(bool with_sign, int depth, const Scope& scope);
    std::string floating(Type type, int depth, const Scope& scope);
    std::string bits_of(int depth, const Scope& scope);

    RandomSource& random_;
    const Features& has_;
};

const char* name_of(Type type);

}  // namespace trilane::cpu::testing
