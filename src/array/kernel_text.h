// Text of element-wise kernels: one statement per element, specialised by how the operands lie in
// memory.
#pragma once

#include <string>
#include <vector>

#include "array/kernel_cache.h"
#include "core/dtype.h"

namespace trilane::array {

// How one operand is reached. The value fits four bits of a KernelKey.
enum class Access : uint8_t {
    Unit = 0,     // inner stride is the item size
    Zero = 1,     // inner stride 0: one value for the whole inner loop
    Strided = 2,  // inner stride is a kernel argument
    Scalar = 3,   // a kernel argument by value
    Raw = 4,      // a whole array that the user's text indexes (user_kernel.h)
    Alias = 8,    // an output that is input number (value - 8), element for element
};
inline Access alias_of(int input) { return static_cast<Access>(8 + input); }
inline bool is_alias(Access access) { return static_cast<uint8_t>(access) >= 8; }
inline int aliased_input(Access access) { return static_cast<uint8_t>(access) - 8; }

enum class Mapping : uint8_t {
    Flat,    // thread = element of a loop of rank 0 or 1
    Rows,    // block = piece of a row: outer axes are the same for a whole block
    Nested,  // thread = element, all axes taken apart per thread (short rows)
};

struct KernelOperand {
    std::string name;      // variable in the body: "in0"
    std::string stored;    // C type in memory
    std::string computed;  // C type of the variable
    Access access = Access::Unit;
    bool output = false;
    bool read_first = false;  // output whose old value the body sees
    bool by_address = false;  // the variable is a pointer to the element
    bool written = false;     // an input by address through which the body writes
};

struct ElementwiseText {
    std::string entry;     // name of the kernel
    std::string preamble;  // before the kernel
    std::string body;      // statements over the operands' names, i (index) and n (count)
    std::string before_loop, after_loop;
    std::vector<KernelOperand> operands;
    bool restrict_pointers = true;
    bool masked = false;    // the last input is a bool: elements where it is false are left
    bool using_ops = true;  // "using namespace trilane" for our own rows
    int rank = 1;
    Mapping mapping = Mapping::Flat;
    bool wide = false;  // axes and counts need 64 bits
    // Elements that a thread moves by one load or store (a power of two), and how many such packs
    // it has in flight. 0: a thread has one element. Not for masked loops, Mapping::Nested,
    // strided, raw or by-address operands; pointers, outer strides and (Rows) the row's length must
    // be multiples of a pack.
    int pack = 0, unroll = 1;
};

// Arguments, in this order: one per operand that is not an alias (pointer or value; Raw operands as
// user_kernel.cpp packs them); then long long n; then, for Rows and Nested: extents of axes 1 to
// rank - 1 (Nested) or 0 to rank - 1 (Rows: the last is the row's length), chunks (Rows only); then
// for each array operand its byte strides: of the inner axis if Strided, before it those of the
// outer axes. The first thread's elements begin at its number times pack, the next pack of a thread
// blockDim.x packs later; a block has blockDim.x * pack * unroll elements.
std::string elementwise_text(const ElementwiseText& kernel);

}  // namespace trilane::array
