// The plain tree of a Python function: what python/trilane/numba/frontend.py hands over. Names are
// resolved there: a node is a local variable, a constant, or a reference to something known.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jit/type.h"

namespace trilane::jit {

enum class NodeKind : uint8_t {
    // statements. Lists of statements are Block nodes.
    Block,
    Assign,     // Assign: [value, target...]
    AugAssign,  // text operator: [target, value]
    Expr,
    If,
    While,  // If, While: [test, body, orelse]
    For,    // [target, iterable, body, orelse]
    Return,
    Break,
    Continue,
    Pass,
    Assert,  // text: index of the raise site: [test]
    Raise,   // text: index of the raise site
    // expressions
    Local,  // text: name
    Int,
    Float,
    Complex,
    Bool,
    Str,
    None,
    Ellipsis,  // text: value ("re,im" of Complex)
    Tuple,
    BinOp,
    UnaryOp,
    BoolOp,   // text: "+", "//", "not", "and" ...
    Compare,  // text: operators joined by ','; [left, right...]
    IfExp,    // [test, then, else]
    Call,     // [function, argument...]; arguments may be Keyword and Starred
    Keyword,
    Starred,       // text: name; [value]
    Attribute,     // text: name; [value]
    Subscript,     // [value, index]
    Slice,         // [start, stop, step], each may be null
    NamedExpr,     // [local, value]
    FormatString,  // [part...]
    // references
    Builtin,          // text: "len", "math.sin", "cuda.syncthreads", "np.minimum"
    DType,            // text: "float32": a scalar type, callable
    Function,         // text: index in Unit::functions
    Array,            // a constant array: text: its bytes in C order; [Str dtype, Tuple shape]
    DeviceArray,      // an array on the device: text: its address; [Str type, Tuple shape,
                      // Tuple strides]
    NamedTupleClass,  // text: type as written by the type parser, without items; kids: Str fields
};

// "Assign" -> Assign; throws core::Error (Internal) for a name that is not there.
NodeKind node_kind(std::string_view name);

struct Node;
using NodePtr = std::unique_ptr<Node>;

struct Node {
    NodeKind kind = NodeKind::Pass;
    int line = 0, column = 0;  // of the file, 1-based and 0-based
    int end_line = 0, end_column = 0;
    std::string text;
    std::vector<NodePtr> kids;  // null where an optional part is missing
    const Node* kid(size_t i) const { return i < kids.size() ? kids[i].get() : nullptr; }
};

// Argument types that a device function was given, and the result's, null if it is inferred.
struct DeviceSignature {
    TypeRef result = nullptr;
    std::vector<TypeRef> arguments;
};

struct FunctionTree {
    std::string name;  // "add_vectors"
    std::string file;  // as tracebacks show it
    int first_line = 1;
    std::vector<std::string> lines;  // the source from first_line on, for messages
    std::vector<std::string> parameters;
    std::vector<NodePtr> defaults;  // one per parameter, null without
    bool star_args = false;         // the last parameter takes the rest as a tuple
    // Names of the enclosing function that an inner function reads: passed at each call.
    std::vector<std::string> captured;
    std::string inline_mode;                  // "", "always", "never"
    NodePtr body;                             // Block
    std::vector<DeviceSignature> signatures;  // empty: any argument types
};

// A kernel with all functions that it can reach. functions[0] is the kernel.
struct Unit {
    std::vector<FunctionTree> functions;
};

}  // namespace trilane::jit
