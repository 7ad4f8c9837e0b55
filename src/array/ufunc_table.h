// The table of ufuncs: one row each, with its type loops in NumPy's order and the CUDA statement
// that computes one element. Everything about an operation that is not in its row is generic.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/promotion.h"

namespace trilane::array {

inline constexpr int kMaxUfuncOperands = 5;

struct UfuncLoop {
    core::DType types[kMaxUfuncOperands];  // inputs, then outputs
    // Statement over in0, in1, ... and out0, ... whose C types are compute_type() of `types`;
    // T is the type of in0.
    const char* body = "";
    uint32_t id = 0;  // unique among all loops of all ufuncs; 0 is none
};

struct Ufunc {
    std::string name;
    int nin = 0, nout = 0;
    int index = 0;              // position in the table
    bool comparison = false;    // Python integers out of range compare by value
    bool refuses_bool = false;  // bools alone have no loop, though they cast to int8
    std::vector<UfuncLoop> loops;
    // The loop for strong input types by NumPy's search (first to which all inputs cast safely), or
    // null. `inputs` has nin entries. Cost: one table look-up after the first time. Any
    // thread.
    const UfuncLoop* find_loop(const core::DType* inputs) const;
    // The loop whose first output is `dtype` (ufunc(..., dtype=)), preferably of that type alone;
    // or null.
    const UfuncLoop* find_loop_for_output(core::DType dtype) const;
    std::string signature(const UfuncLoop& loop) const;  // "dd->d"

    void prepare_search();  // once, when the table is made

  private:
    // By input types; -2: not yet searched, -1: none. Filled without a lock: equal writes only.
    mutable std::unique_ptr<std::atomic<int16_t>[]> memo_;
};

std::span<const Ufunc> ufunc_table();
const Ufunc& find_ufunc(std::string_view name);  // NotFound
const Ufunc* find_ufunc_or_null(std::string_view name);
const UfuncLoop& ufunc_loop_by_id(uint32_t id, const Ufunc** owner = nullptr);

// Indices of those that operators use, so that they need no search by name.
enum class Op : int {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Divmod,
    Power,
    LeftShift,
    RightShift,
    BitAnd,
    BitOr,
    BitXor,
    Invert,
    Negative,
    Positive,
    Absolute,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Count
};
const Ufunc& ufunc_of(Op op);

}  // namespace trilane::array
