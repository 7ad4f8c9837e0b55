// For tests: random statements of one kernel.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/testing/lane_generator.h"

namespace trilane::cpu::testing {

// Who is sure to come to a statement.
enum class Present {
    Some,  // nobody knows which threads
    Warp,  // those of the warp that the variable m names
    Block  // all threads of the block that have not returned, and m names those of the warp
};

constexpr int kDepth = 3;

// Where a statement stands.
struct Place {
    Present present = Present::Some;
    int depth = kDepth;         // constructs that may still be nested
    bool in_loop = false;       // break and continue, whatever the thread
    bool uniform_loop = false;  // break and continue, if all threads do
    Scope scope;
};

class Statements {
  public:
    Statements(RandomSource& random, const Features& features, core::Dim3 block)
        : random_(random), has_(features), block_(block), make_(random, features) {}

    std::vector<Piece> list(int size, const Place& place);
    void note_return() { ++returns_; }  // of the text before

    // One own element after another, from what the thread's variables hold.
    std::vector<Piece> stores(const Scope& scope);

  private:
    Piece one(Place place);
    Piece plain(const Place& place);
    Piece assignment(const Place& place);
    Piece own_access(const Place& place);
    Piece array_access(const Place& place);
    Piece struct_access(const Place& place);
    Piece pointer(const Place& place);
    Piece atomic(const Place& place);
    Piece vector_access(const Place& place);

    Piece nested(const Place& place);
    Piece branch(const Place& place);
    Piece switched(const Place& place);
    Piece loop(const Place& place);
    Piece masked_loop(const Place& place);
    Piece uniform_loop(const Place& place);
    Piece strided_loop(const Place& place);
    Piece jump(const Place& place);
    Piece leave(const Place& place);

    Piece warp(const Place& place);
    Piece shuffle(const Place& place);
    Piece shared(const Place& place);
    Piece strided_sum(const Place& place);
    Piece waiting(const Place& place);
    Piece opportunistic();

    std::string name(const char* letter) { return letter + std::to_string(names_++); }
    std::string any(Type type, const Place& place) { return make_.value(type, 2, place.scope); }
    int block_size() const { return int(block_.x * block_.y * block_.z); }

    RandomSource& random_;
    const Features& has_;
    core::Dim3 block_;
    Expressions make_;
    int names_ = 0;
    int waits_ = 0;
    int returns_ = 0;
    bool in_strided_ = false;
};

}  // namespace trilane::cpu::testing
