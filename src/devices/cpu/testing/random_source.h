// For tests: choices from a seed, the same on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace trilane::cpu::testing {

class RandomSource {
  public:
    explicit RandomSource(uint32_t seed) : engine_(seed) {}
    uint64_t bits() { return (uint64_t(engine_()) << 32) | engine_(); }
    // 0 to limit - 1.
    int below(int limit) { return int(engine_() % uint32_t(limit)); }
    bool chance(int percent) { return below(100) < percent; }
    template <typename T>
    const T& of(const std::vector<T>& choices) {
        return choices[size_t(below(int(choices.size())))];
    }

  private:
    std::mt19937 engine_;  // its numbers are fixed by the standard, unlike those of distributions
};

}  // namespace trilane::cpu::testing
