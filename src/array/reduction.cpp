// The named reductions: their rows, their result types, and what is made of them.
#include "array/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "array/promotion.h"
#include "array/ufunc.h"
#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::DTypeKind;
using core::ErrorKind;
using core::throw_error;

namespace {

enum class ResultRule : uint8_t {
    Sum,   // small integers widen to 64 bits
    Same,  // as the input
    Bool,
    Index,    // int64
    Mean,     // integers become float64
    Integer,  // as the input, which must be an integer or bool
    Real,     // as the input, which must be a float
    Squares,  // the real type of the input
};

// Text: `in0` is the element as A (accumulating type), j its index along the axis.
struct ReductionRow {
    const char* name;
    ResultRule rule;
    const char* identity;  // nullptr: none, an empty reduction is an error
    const char* map;
    const char* combine;
    const char* post;
    const char* error_name;  // what the error about empty input says
    bool arg = false;        // accumulates value and index
};

#define TRILANE_NOT_NAN(other) "(is_nan(in0) ? A(" other ") : in0)"
// The better value, of equals the first; NaN is best. Without branches: lanes of a warp, and of the
// cpu device's vectors, differ. Nothing yet is a value that loses to all, at -1, which as unsigned
// is after all.
#define TRILANE_ARG(better)                                            \
    "((((" better                                                      \
    ") & !is_nan(a.value)) | (is_nan(b.value) & !is_nan(a.value)) | "  \
    "(((a.value == b.value) | (is_nan(a.value) & is_nan(b.value))) & " \
    "((unsigned long long)b.at < (unsigned long long)a.at))) ? b : a)"

const ReductionRow kRows[] = {
    {"sum", ResultRule::Sum, "A(0)", "in0", "a + b", "out0 = a", "add"},
    {"prod", ResultRule::Sum, "A(1)", "in0", "a * b", "out0 = a", "multiply"},
    {"max", ResultRule::Same, nullptr, "in0", "ops::maximum(a, b)", "out0 = a", "maximum"},
    {"min", ResultRule::Same, nullptr, "in0", "ops::minimum(a, b)", "out0 = a", "minimum"},
    {"all", ResultRule::Bool, "true", "in0 != I(0)", "a && b", "out0 = a", ""},
    {"any", ResultRule::Bool, "false", "in0 != I(0)", "a || b", "out0 = a", ""},
    {"count_nonzero", ResultRule::Index, "A(0)", "A(in0 != I(0))", "a + b", "out0 = a", ""},
    {"mean", ResultRule::Mean, "A(0)", "in0", "a + b", "out0 = a / R(count)", ""},
    {"nansum", ResultRule::Sum, "A(0)", TRILANE_NOT_NAN("0"), "a + b", "out0 = a", ""},
    {"nanprod", ResultRule::Sum, "A(1)", TRILANE_NOT_NAN("1"), "a * b", "out0 = a", ""},
    {"nanmax", ResultRule::Same, nullptr, "in0", "ops::fmax(a, b)", "out0 = a", "fmax"},
    {"nanmin", ResultRule::Same, nullptr, "in0", "ops::fmin(a, b)", "out0 = a", "fmin"},
    {"count_not_nan", ResultRule::Index, "A(0)", "A(!is_nan(in0))", "a + b", "out0 = a", ""},
    {"argmax", ResultRule::Index, "{worst(), -1}", "accumulator_t{in0, j}",
     TRILANE_ARG("b.value > a.value"), "out0 = a.at", "argmax", true},
    {"argmin", ResultRule::Index, "{worst(), -1}", "accumulator_t{in0, j}",
     TRILANE_ARG("b.value < a.value"), "out0 = a.at", "argmin", true},
    {"nanargmax", ResultRule::Index, "{worst(), -1}",
     "(is_nan(in0) ? accumulator_t{worst(), -1} : accumulator_t{in0, j})",
     TRILANE_ARG("b.value > a.value"), "out0 = a.at", "nanargmax", true},
    {"nanargmin", ResultRule::Index, "{worst(), -1}",
     "(is_nan(in0) ? accumulator_t{worst(), -1} : accumulator_t{in0, j})",
     TRILANE_ARG("b.value < a.value"), "out0 = a.at", "nanargmin", true},
    {"bitwise_and", ResultRule::Integer, "A(-1)", "in0", "a & b", "out0 = a", ""},
    {"bitwise_or", ResultRule::Integer, "A(0)", "in0", "a | b", "out0 = a", ""},
    {"bitwise_xor", ResultRule::Integer, "A(0)", "in0", "a ^ b", "out0 = a", ""},
    {"logical_xor", ResultRule::Bool, "false", "in0 != I(0)", "a != b", "out0 = a", ""},
    {"logaddexp", ResultRule::Real, "-inf_of<A>()", "in0", "ops::logaddexp(a, b)", "out0 = a", ""},
    {"logaddexp2", ResultRule::Real, "-inf_of<A>()", "in0", "ops::logaddexp2(a, b)", "out0 = a",
     ""},
    {"hypot", ResultRule::Real, "A(0)", "fabs(in0)", "hypot(a, b)", "out0 = a", ""},
    {"gcd", ResultRule::Integer, "A(0)", "in0", "ops::gcd(a, b)", "out0 = a", ""},
};

// The second pass of a variance: in1 is the mean. Not for users.
const ReductionRow kSquares[] = {
    {"sum_of_squares", ResultRule::Squares, "A(0)", "squared_size(in0 - in1)", "a + b", "out0 = a",
     ""},
    {"nan_sum_of_squares", ResultRule::Squares, "A(0)",
     "(is_nan(in0) ? A(0) : squared_size(in0 - in1))", "a + b", "out0 = a", ""},
};

struct Synonym {
    const char* ufunc;
    const char* name;
};
constexpr Synonym kSynonyms[] = {
    {"add", "sum"},     {"multiply", "prod"}, {"maximum", "max"},     {"minimum", "min"},
    {"fmax", "nanmax"}, {"fmin", "nanmin"},   {"logical_and", "all"}, {"logical_or", "any"},
    {"amax", "max"},    {"amin", "min"},
};

const ReductionRow* find_row(std::string_view name) {
    for (const Synonym& synonym : kSynonyms)
        if (name == synonym.ufunc) name = synonym.name;
    for (const ReductionRow& row : kRows)
        if (name == row.name) return &row;
    return nullptr;
}

// The type in which elements are added up, and the result's.
struct ReductionTypes {
    DType element;  // in0's type after the cast
    DType accumulate;
    DType result;
};

DType widened(DType dtype) {
    switch (core::kind_of(dtype)) {
        case DTypeKind::Bool:
        case DTypeKind::Int:
            return DType::Int64;
        case DTypeKind::UInt:
            return DType::UInt64;
        default:
            return dtype;
    }
}

ReductionTypes reduction_types(const ReductionRow& row, DType in, std::optional<DType> dtype) {
    ReductionTypes t{in, in, in};
    switch (row.rule) {
        case ResultRule::Sum:
            t.result = dtype.value_or(widened(in));
            break;
        case ResultRule::Same:
            t.result = dtype.value_or(in);
            break;
        case ResultRule::Bool:
            return {in, DType::Bool, dtype.value_or(DType::Bool)};
        case ResultRule::Index:
            return {in, DType::Int64, dtype.value_or(DType::Int64)};
        case ResultRule::Mean: {
            bool whole = is_integer(in) || in == DType::Bool;
            t.result = dtype.value_or(whole ? DType::Float64 : in);
            t.element = t.accumulate = t.result;
            if (is_integer(t.result) || t.result == DType::Bool)
                t.element = t.accumulate = DType::Float64;
            return t;
        }
        case ResultRule::Integer:
            if (!is_integer(in) && in != DType::Bool)
                throw_error(ErrorKind::TypeMismatch, "ufunc '{}' not supported for the input types",
                            row.name);
            t.result = dtype.value_or(in);
            break;
        case ResultRule::Real:
            t.result = dtype.value_or(is_float(in) ? in : DType::Float64);
            break;
        case ResultRule::Squares: {
            DType real = real_dtype(in);
            return {in, real, dtype.value_or(real)};
        }
    }
    t.element = t.accumulate = t.result;
    return t;
}

struct Description {
    const ReductionRow* row;
    DType element, accumulate;
};

constexpr const char* kHelpers =
    "template <typename T> __device__ __forceinline__ T squared_size(T x) { return x * x; }\n"
    "template <typename T> __device__ __forceinline__ T squared_size(trilane::complex<T> z) "
    "{ return z.re * z.re + z.im * z.im; }\n";

// Of type `name`, which is `dtype`: what every value but itself beats in a search for the highest
// (`lowest`) or the lowest.
std::string losing_value(const char* name, DType dtype, bool lowest) {
    if (!is_float(dtype) && !is_complex(dtype))
        return fmt::format("ops::{}_of<{}>()", lowest ? "lowest" : "highest", name);
    const char* sign = lowest ? "-" : "";
    if (is_float(dtype)) return fmt::format("{}inf_of<{}>()", sign, name);
    return fmt::format("{0}({1}inf_of<{2}>(), {1}inf_of<{2}>())", name, sign,
                       compute_type(real_dtype(dtype)));
}

void describe_row(const void* context, ReductionText& text) {
    const Description& d = *static_cast<const Description*>(context);
    const ReductionRow& row = *d.row;
    const char* element = compute_type(d.element);
    const char* accumulate = compute_type(d.accumulate);
    text.entry = fmt::format("trilane_reduce_{}", row.name);
    text.preamble = fmt::format("typedef {} I;\ntypedef {} A;\ntypedef {} R;\n{}", element,
                                accumulate, compute_type(real_dtype(d.accumulate)), kHelpers);
    if (row.arg) {
        bool highest = std::string_view(row.name).find("argmin") != std::string_view::npos;
        text.preamble += fmt::format(
            "struct arg_t {{ I value; long long at; }};\n"
            "__device__ __forceinline__ I worst() {{ return {}; }}\n",
            losing_value("I", d.element, !highest));
        text.accumulator = "arg_t";
    } else {
        text.accumulator = "A";
    }
    text.map = row.map;
    text.combine = row.combine;
    text.post = row.post;
    text.identity = row.arg        ? fmt::format("arg_t{}", row.identity)
                    : row.identity ? row.identity
                                   : "";
    if (!row.identity) {
        // Extremes start from a value that every other one beats.
        std::string_view name = row.name;
        bool nan_start = name == "nanmax" || name == "nanmin";
        bool lowest = name == "max" || name == "nanmax";
        bool whole = !is_float(d.accumulate) && !is_complex(d.accumulate);
        text.identity =
            nan_start && !whole ? "A(nan_of<R>())" : losing_value("A", d.accumulate, lowest);
    }
}

uint64_t row_id(const ReductionRow& row, const ReductionTypes& types) {
    return (uint64_t{3} << 30) + static_cast<uint64_t>(&row - kRows) * 4096 +
           static_cast<uint64_t>(types.element) * 64 + static_cast<uint64_t>(types.accumulate);
}

size_t accumulator_size(const ReductionRow& row, const ReductionTypes& types) {
    size_t value = core::size_of(types.element);
    if (types.element == DType::Float16 || types.element == DType::BFloat16) value = 4;
    if (row.arg) return value <= 8 ? 16 : value == 16 ? 32 : 24;
    size_t size = core::size_of(types.accumulate);
    return size == 2 && is_float(types.accumulate) ? 4 : size;
}

Array make_result(const ReduceCall& call, DType dtype) {
    Shape shape = reduced_shape(call.a->shape(), call.axes, call.keepdims);
    if (!call.out) return Array::empty(shape, dtype);
    if (!(call.out->shape() == shape))
        throw_error(ErrorKind::InvalidArgument,
                    "output parameter for reduction operation has the wrong shape: got {}, "
                    "expected {}",
                    to_string(call.out->shape()), to_string(shape));
    if (!can_cast(dtype, call.out->dtype(), Casting::SameKind))
        throw_error(
            ErrorKind::TypeMismatch,
            "Cannot cast reduction output from dtype('{}') to dtype('{}') with casting rule "
            "'same_kind'",
            core::numpy_name(dtype), core::numpy_name(call.out->dtype()));
    return *call.out;
}

// `result` without the axes of extent one that keepdims put in.
Array drop_axes(const Array& result, const std::vector<int>& axes, bool keepdims) {
    if (!keepdims) return result;
    Shape shape, strides;
    size_t next = 0;
    for (int i = 0; i < result.ndim(); ++i) {
        if (next < axes.size() && axes[next] == i) {
            ++next;
            continue;
        }
        shape.push_back(result.shape()[i]);
        strides.push_back(result.strides()[i]);
    }
    return result.with_layout(result.offset(), shape, strides);
}

// Elements left out by `where` become the identity, by value: one element-wise pass.
Array masked_input(const Array& a, const Array& where, const ReductionRow& row) {
    UfuncInput x, identity;
    x.array = &a;
    std::string_view text = row.identity;
    bool one = text == "A(1)" || text == "true";
    identity.scalar = text == "A(-1)" ? Scalar::weak_int(-1) : Scalar::weak_int(one);
    if (text == "-inf_of<A>()")
        identity.scalar = Scalar::weak_float(-std::numeric_limits<double>::infinity());
    if (a.dtype() == DType::Bool) identity.scalar = Scalar::of_bool(one);
    return select(where, x, identity);
}

}  // namespace

bool has_reduction(std::string_view name) { return find_row(name) != nullptr; }

Shape reduced_shape(const Shape& shape, const std::vector<int>& axes, bool keepdims) {
    Shape result;
    size_t next = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
        bool gone = next < axes.size() && axes[next] == static_cast<int>(i);
        if (gone) ++next;
        if (!gone)
            result.push_back(shape[i]);
        else if (keepdims)
            result.push_back(1);
    }
    return result;
}

namespace {

int64_t reduced_count(const ReduceCall& call) {
    int64_t count = 1;
    for (int axis : call.axes) count *= call.a->shape()[axis];
    return count;
}

[[noreturn]] void refuse_empty(const ReductionRow& row) {
    if (row.arg)
        throw_error(ErrorKind::InvalidArgument, "attempt to get {} of an empty sequence",
                    row.error_name);
    throw_error(ErrorKind::InvalidArgument,
                "zero-size array to reduction operation {} which has no identity", row.error_name);
}

void combine_initial(const ReduceCall& call, const ReductionRow& row, const Array& result) {
    const char* names[][2] = {{"sum", "add"},         {"prod", "multiply"},  {"max", "maximum"},
                              {"min", "minimum"},     {"nanmax", "fmax"},    {"nanmin", "fmin"},
                              {"all", "logical_and"}, {"any", "logical_or"}, {"nansum", "add"},
                              {"nanprod", "multiply"}};
    for (auto& [reduction, ufunc] : names) {
        if (std::string_view(reduction) != row.name) continue;
        UfuncCall join;
        join.ufunc = &find_ufunc(ufunc);
        join.inputs[0].array = &result;
        join.inputs[1].scalar = *call.initial;
        join.outputs[0] = &result;
        join.casting = Casting::Unsafe;
        call_ufunc(join);
        return;
    }
    throw_error(ErrorKind::NotSupported, "{}: initial", row.name);
}

}  // namespace

Array reduce(const ReduceCall& call) {
    const ReductionRow* row = find_row(call.name);
    if (!row) throw_error(ErrorKind::NotSupported, "reduce: no reduction for '{}'", call.name);
    const Array& a = *call.a;
    if (a.dtype() == DType::Void)
        throw_error(ErrorKind::TypeMismatch, "{}: structured dtypes have no arithmetic", call.name);
    if (call.where && row->rule == ResultRule::Mean)
        throw_error(ErrorKind::NotSupported, "mean: where");
    ReductionTypes types = reduction_types(*row, a.dtype(), call.dtype);
    Array result = make_result(call, types.result);
    bool empty = reduced_count(call) == 0;
    if (!row->identity || row->arg) {
        if (empty && result.size() > 0 && !call.initial) refuse_empty(*row);
        if (call.where && !call.initial)
            throw_error(
                ErrorKind::InvalidArgument,
                "reduction operation '{}' does not have an identity, so to use a where mask "
                "one has to specify 'initial'",
                row->error_name);
    }
    Array source = a;
    if (call.where) {
        if (row->identity && !row->arg) {
            source = masked_input(a, *call.where, *row);
        } else {
            UfuncInput x, initial;
            x.array = &a;
            initial.scalar = *call.initial;
            source = select(*call.where, x, initial);
        }
        types = reduction_types(*row, source.dtype(), types.result);
    }
    if (empty && (!row->identity || row->arg)) {
        copy_into(result, *call.initial);
        return result;
    }
    Description description{row, types.element, types.accumulate};
    ReductionKernel kernel;
    kernel.id = row_id(*row, types);
    kernel.describe = describe_row;
    kernel.context = &description;
    kernel.accumulator_bytes = accumulator_size(*row, types);
    kernel.keep_order = row->arg;
    LoopOperand input{&source, nullptr, types.element, false};
    Array flat = drop_axes(result, call.axes, call.keepdims);
    Array target = flat;
    // An output that overlaps the input is written when all is read.
    if (call.out && may_share_memory(*call.out, source))
        target = Array::empty(flat.shape(), flat.dtype());
    run_reduction(kernel, source.shape(), call.axes, {&input, 1}, target);
    if (target.storage() != flat.storage()) copy_into(flat, target);
    if (call.initial) combine_initial(call, *row, result);
    return result;
}

namespace {

Array divide_by(const Array& a, const UfuncInput& divisor, DType dtype, const Array* out) {
    UfuncCall call;
    call.ufunc = &ufunc_of(Op::Divide);
    call.inputs[0].array = &a;
    call.inputs[1] = divisor;
    call.dtype = dtype;
    call.casting = Casting::Unsafe;
    call.outputs[0] = out;
    return call_ufunc(call).outputs[0];
}

// The mean over the axes (kept with extent one), in `compute`; `counts` is filled where NaN are
// skipped.
Array mean_of(const Array& a, const std::vector<int>& axes, DType compute, Array* counts) {
    ReduceCall call;
    call.a = &a;
    call.axes = axes;
    call.keepdims = true;
    if (!counts) {
        call.name = "mean";
        call.dtype = compute;
        return reduce(call);
    }
    call.name = "count_not_nan";
    *counts = reduce(call);
    call.name = "nansum";
    call.dtype = compute;
    Array total = reduce(call);
    UfuncInput divisor;
    divisor.array = counts;
    return divide_by(total, divisor, compute, nullptr);
}

// Sum over the axes of |a - mean|^2: one pass, no array of differences.
Array squares_around(const Array& a, const Array& mean, const std::vector<int>& axes, DType compute,
                     bool keepdims, bool skip_nan) {
    const ReductionRow& row = kSquares[skip_nan];
    DType real = real_dtype(compute);
    Description description{&row, compute, real};
    ReductionKernel kernel;
    kernel.id = (uint64_t{3} << 30) + (std::size(kRows) + skip_nan) * 4096 +
                static_cast<uint64_t>(compute) * 64 + static_cast<uint64_t>(real);
    kernel.describe = describe_row;
    kernel.context = &description;
    kernel.accumulator_bytes = core::size_of(real);
    LoopOperand inputs[] = {{&a, nullptr, compute, false}, {&mean, nullptr, compute, false}};
    Array result = Array::empty(reduced_shape(a.shape(), axes, keepdims), real);
    run_reduction(kernel, a.shape(), axes, inputs, drop_axes(result, axes, keepdims));
    return result;
}

}  // namespace

Array variance(const Array& a, const std::vector<int>& axes, std::optional<DType> dtype,
               const Array* out, double ddof, bool keepdims, bool skip_nan) {
    bool whole = is_integer(a.dtype()) || a.dtype() == DType::Bool;
    DType asked = dtype.value_or(whole ? DType::Float64 : a.dtype());
    DType compute = asked;
    if (compute == DType::Float16 || compute == DType::BFloat16) compute = DType::Float32;
    if (is_integer(compute) || compute == DType::Bool) compute = DType::Float64;
    if (is_complex(a.dtype())) compute = complex_dtype(compute);
    Array counts;
    Array mean = mean_of(a, axes, compute, skip_nan ? &counts : nullptr);
    Array total = squares_around(a, mean, axes, compute, keepdims, skip_nan);
    UfuncInput divisor;
    Array freedom;
    if (skip_nan) {
        UfuncCall subtract;
        subtract.ufunc = &ufunc_of(Op::Subtract);
        counts = keepdims ? counts : drop_axes(counts, axes, true);
        subtract.inputs[0].array = &counts;
        subtract.inputs[1].scalar = Scalar::weak_float(ddof);
        freedom = call_ufunc(subtract).outputs[0];
        // As NumPy: no degrees of freedom left gives NaN.
        UfuncCall above;
        above.ufunc = &ufunc_of(Op::Greater);
        above.inputs[0].array = &freedom;
        above.inputs[1].scalar = Scalar::weak_float(0);
        Array positive = call_ufunc(above).outputs[0];
        UfuncInput x, nan;
        x.array = &freedom;
        nan.scalar = Scalar::weak_float(std::numeric_limits<double>::quiet_NaN());
        freedom = select(positive, x, nan);
        divisor.array = &freedom;
    } else {
        int64_t count = 1;
        for (int axis : axes) count *= a.shape()[axis];
        divisor.scalar = Scalar::weak_float(std::max(0.0, static_cast<double>(count) - ddof));
    }
    DType result_dtype = real_dtype(asked);
    if (out) {
        if (!(out->shape() == total.shape()))
            throw_error(ErrorKind::InvalidArgument,
                        "output parameter for reduction operation has the wrong shape: got {}, "
                        "expected {}",
                        to_string(out->shape()), to_string(total.shape()));
        return divide_by(total, divisor, total.dtype(), out);
    }
    Array quotient = divide_by(total, divisor, total.dtype(), nullptr);
    return quotient.dtype() == result_dtype ? quotient : astype(quotient, result_dtype);
}

}  // namespace trilane::array
