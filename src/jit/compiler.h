// The compiler of one function: an abstract interpreter over types that puts out CUDA C++ as it
// goes. A variable's type is a property of the program point, which is what Numba's SSA form gives;
// where paths meet the types unify, and a loop's body is gone through until the types at its head
// stay. One C++ variable per (name, type); a path that arrives with another type converts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/diagnostic.h"
#include "jit/translate.h"
#include "jit/value.h"

namespace trilane::jit {

// A device function compiled for argument types.
struct Specialisation {
    int function = 0;
    std::string cuda_name;
    std::vector<Value> arguments;  // types, and the value of compile-time arguments
    TypeRef declared = nullptr;    // result that a signature asks for
    TypeRef result = nullptr;      // null until a return has been seen
    bool done = false;
    bool recursive = false;
    bool unresolved = false;  // called itself before any result was known
    uint64_t writes = 0;      // bits of its own parameters
    uint64_t result_origin = 0;
    std::string prototype, text;
};

// What the functions of one program share.
struct Program {
    explicit Program(const Unit& unit, const TranslateOptions& options)
        : unit(unit), options(options) {}
    const Unit& unit;
    const TranslateOptions& options;
    bool raises = false;          // some function has raise or assert
    bool wants_raise = false;     // came upon something that must raise, whatever the text says
    bool dynamic_shared = false;  // some function asks for dynamic shared memory
    // What functions take besides their own parameters, and what calls give them.
    std::string hidden_parameters(bool kernel) const;
    std::string hidden_arguments() const;
    bool cooperative = false;
    std::map<std::string, std::unique_ptr<Specialisation>> specialisations;  // by key
    std::vector<Specialisation*> order;                                      // callees first
    std::vector<TypeRef> tuples;     // struct definitions needed, inner ones first
    std::set<std::string> features;  // parts of the support text needed
    std::map<const Node*, std::string> constant_arrays;  // name by node
    std::string constants;                               // their definitions
    std::map<std::string, std::string> externals;        // prototype by name
    size_t constant_bytes = 0;                           // in constant memory
    int depth = 0;                                       // nesting of function compilations
    int counter = 0;

    void need(TypeRef type);  // definitions for a type that the text names
    void need(const char* feature) { features.insert(feature); }
    Specialisation& specialise(int function, std::vector<Value> arguments);
    // Which parameters of a function decide at compile time: the shape of a shared or local array,
    // or which branch there is, in it or in what it calls. What is known of them at a call is kept,
    // and a specialisation is one per value.
    const std::set<std::string>& deciding_parameters(int function);
    std::map<int, std::set<std::string>> deciding;
};

class Compiler {
  public:
    Compiler(Program& program, const FunctionTree& function, Specialisation& target, bool kernel);
    // Fills the specialisation's text, result and masks.
    void run();

  private:
    // --- statements (statements.cpp, loops.cpp)
    void block(const Node& node);
    void statement(const Node& node);
    void assign(const Node& target, Value value, const Node& where);
    void assign_local(const std::string& name, const Value& value, const Node& where);
    void unpack(const Node& target, Value value, const Node& where);
    void augmented(const Node& node);
    void if_statement(const Node& node);
    void while_statement(const Node& node);
    void for_statement(const Node& node);
    void return_statement(const Node& node);
    void raise_statement(const std::string& site);
    void leave_after_raise();
    void unroll_tuple(const Node& node, const Value& tuple);
    struct Loop;
    // `open` gives the C++ head of the loop, `begin` puts out what each turn starts with.
    void loop(const Node& node, const std::function<std::string()>& open,
              const std::function<void()>& begin);
    // The C++ head of a loop over `iterable` and what gives the item of a turn.
    std::string iteration(const Value& iterable, const Node& where, std::function<Value()>& item);
    struct Sequence {
        std::string length;                           // an int64 expression
        std::function<Value(const std::string&)> at;  // item by position
    };
    Sequence sequence(const Value& iterable, const Node& where);
    Sequence indices(const std::vector<Value>& extents);
    void convert(const State& from, const State& to);
    std::string conversion_text(const State& from, const State& to);
    void kill_constants(State& state, const Node& body);

    // --- expressions (expressions.cpp, operators.cpp, subscripts.cpp)
    Value visit(const Node& node);
    std::vector<Value> operands(std::vector<const Node*> nodes);
    Value condition(const Node& node);
    Value local(const Node& node);
    Value constant_node(const Node& node);
    Value bool_operator(const Node& node, size_t from = 0);
    Value if_expression(const Node& node);
    Value select(const Value& test, const std::function<Value()>& then,
                 const std::function<Value()>& otherwise, const Node& node);
    Value compare(const Node& node);
    Value compare_one(std::string_view op, Value left, Value right, const Node& node);
    Value compare_tuples(std::string_view op, const Value& left, const Value& right,
                         const Node& node);
    Value binary(std::string_view op, Value left, Value right, const Node& node);
    // In debug mode: leaves with `site` where `test` holds.
    void check(const std::string& test, int site);
    // In any mode: leaves with ValueError if `array` cannot be broadcast to `target`.
    void check_shape(const Value& target, const Value& array);
    void leave_if(const std::string& test, int site);
    // In debug mode: leaves with ZeroDivisionError if the divisor is zero.
    void check_divisor(Value& divisor);
    Value power(Value left, Value right, const Node& node);
    Value unary(const std::string& op, Value value, const Node& node);
    std::optional<Value> fold(std::string_view op, const Value& a, const Value& b, TypeRef type);
    Value attribute(const Node& node);
    Value array_attribute(const Value& array, const std::string& name, const Node& node);
    Value subscript(const Node& node);
    Value index_value(Value base, Value index, const Node& node);
    Value index_tuple(const Value& base, const Value& index, const Node& node);
    Value array_item(Value array, const Value& index, const Node& node);  // element or view
    Value array_view(const Value& array, const std::vector<Value>& index, const Node& node);
    std::string address(const Value& array, const std::vector<Value>& index, const Node& node);
    std::vector<Value> index_list(const Value& array, const Value& index, const Node& node);
    std::string wrapped(const Value& index, const std::string& extent, bool narrow);
    Value element(const Value& array, const std::string& address);
    Value record_field(const Value& record, const Field& field);
    void store(const Node& target, Value value, const Node& where);
    void store_item(Value base, Value index, Value value, const Node& where);
    void store_view(Value view, Value value, const Node& where);
    void store_pointer(const std::string& address, TypeRef type, const Value& value,
                       const Node& where);

    // --- calls (calls.cpp, builtins.cpp, cuda_calls.cpp, math_calls.cpp, memory_calls.cpp)
    Value call(const Node& node);
    Arguments arguments(const Node& node);
    Value call_function(int index, Arguments& args, std::vector<Value> captured);
    std::vector<Value> bind(const FunctionTree& f, Arguments& args);
    // Converts to the nearest of the signatures that the function was given; which one.
    const DeviceSignature& choose_signature(const FunctionTree& f, std::vector<Value>& values,
                                            const Node& node);
    Value call_builtin(const std::string& name, Arguments& args);
    Value call_dtype(const std::string& name, Arguments& args);
    Value call_method(const Value& bound, Arguments& args);
    Value call_external(const std::string& text, Arguments& args);  // external_calls.cpp
    Value external_result(const std::string& name, TypeRef type, bool c_abi,
                          const std::vector<std::string>& types,
                          const std::vector<std::string>& values);
    Value from_buffer(Arguments& args);
    Value named_tuple(const Node& node, Arguments& args);
    bool python_builtin(const std::string& name, Arguments& args, Value& result);
    bool math_builtin(const std::string& name, Arguments& args, Value& result);
    bool numpy_builtin(const std::string& name, Arguments& args, Value& result);
    bool cuda_builtin(const std::string& name, Arguments& args, Value& result);
    bool warp_builtin(const std::string& name, Arguments& args, Value& result);
    bool operator_builtin(const std::string& name, Arguments& args, Value& result);
    bool iterator_builtin(const std::string& name, Arguments& args, Value& result);
    bool complex_builtin(const std::string& name, Arguments& args, Value& result);
    bool index_builtin(const std::string& name, Arguments& args, Value& result);
    bool libdevice_builtin(const std::string& name, Arguments& args, Value& result);
    bool random_builtin(const std::string& name, Arguments& args, Value& result);
    bool array_ufunc(const std::string& name, Arguments& args, Value& result);  // ufunc_calls.cpp
    bool ufunc_comparison(const std::string& name, std::vector<Value>& v, const Node& node,
                          Value& result);
    bool vector_builtin(const std::string& name, Arguments& args, Value& result);
    bool cached_access(const std::string& name, Arguments& args, Value& result);
    [[noreturn]] void no_shape(const std::string& space, const Value& shape, TypeRef element,
                               const Node& node) const;
    Value minmax(const std::string& name, Arguments& args);
    Value print(Arguments& args);
    Value round_call(Arguments& args);
    Value make_array(const std::string& space, Arguments& args);
    void count_shared(const Node& node, int64_t nbytes);
    Value constant_array(const Node& node);
    Value device_array(const Node& node);
    std::string element_address(const Value& array, const Value& index, const Node& node);
    Value range_call(Arguments& args);
    Value atomic(const std::string& name, Arguments& args);
    Value shuffle(const std::string& name, Arguments& args);

    // --- conversions (convert.cpp)
    std::string cast(const Value& value, TypeRef to, const Node& where);
    Value as(const Value& value, TypeRef to, const Node& where);
    Value truth(Value value, const Node& where);
    std::string code_of(const Value& value);  // tuples from their items
    Value item_of(const Value& tuple, size_t i);

    // --- putting out
    void emit(const std::string& line);
    void line_mark(const Node& node);
    Value spill(const Value& value);                      // into a temporary
    Value effect(TypeRef type, const std::string& call);  // a statement that gives a value
    std::string temporary();
    std::string variable(const std::string& name, TypeRef type);
    template <typename F>
    std::string capture(F&& body) {
        std::string saved;
        saved.swap(out_);
        body();
        saved.swap(out_);
        return saved;
    }
    static Value make(TypeRef type, std::string code, bool stable = false) {
        Value v;
        v.type = type;
        v.code = std::move(code);
        v.stable = stable;
        return v;
    }
    static Value integer(Int128 value, TypeRef type = types::int64());
    static Value boolean(bool value);
    static Value real(double value, TypeRef type = types::float64());
    static Value none();

    // --- errors
    [[noreturn]] void typing(const Node& node, const std::string& message) const;
    [[noreturn]] void unsupported(const Node& node, const std::string& what) const;
    [[noreturn]] void no_function(const Node& node, const std::string& name,
                                  const std::vector<Value>& args) const;
    // Checks counts; names of keyword arguments in order, `required` of them needed.
    std::vector<Value> take(Arguments& args, const std::string& name,
                            std::initializer_list<const char*> names, size_t required) const;
    Int128 static_integer(const Value& value, const Node& node, const char* what) const;
    TypeRef dtype_argument(const Value& value, const Node& node) const;
    std::vector<int64_t> static_shape(const Value& value, const Node& node) const;
    void note_write(const Value& array, const Node& where);

    Program& program_;
    const FunctionTree& function_;
    Specialisation& target_;
    bool kernel_;
    State state_;
    std::string out_;
    int indent_ = 1;
    int last_line_ = 0;
    int temporaries_ = 0;
    std::map<std::pair<std::string, TypeRef>, std::string> names_;
    std::set<std::string> used_names_;
    std::vector<std::pair<std::string, TypeRef>> declared_;  // C++ variables
    std::map<std::pair<int, int>, std::string> storage_;     // local and shared arrays
    std::map<std::pair<int, int>, int64_t> shared_bytes_;    // of the shared ones
    std::string assigned_;  // the variable that the value of the statement goes to, or empty
    std::vector<Loop*> loops_;
    std::vector<std::pair<std::string, Value>> returns_;  // placeholder, value
};

// Escapes for a C string literal, without the quotes.
std::string c_escape(std::string_view text);
std::string mangle(std::string_view python_name);
std::string float_text(double value, int bits);

}  // namespace trilane::jit
