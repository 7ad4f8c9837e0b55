// The rows of the ufunc table. letters of a pattern: z(bool) b B h H i I q Q e E f d F D are types
// (promotion.h); J stands for every integer type in turn, R for float16, bfloat16, float32 and
// float64, C for the complex types, S for the real type that belongs to C.
#pragma once

#include <initializer_list>

namespace trilane::array {

struct LoopRow {
    const char* pattern;
    const char* body;
};

struct UfuncRow {
    const char* name;
    std::initializer_list<LoopRow> loops;
};

// Several names for shapes of rows that occur again and again.
#define TRILANE_REAL_FUNCTION(name, real) \
    {                                     \
        name, {                           \
            {                             \
                "R>R", "out0 = " real     \
            }                             \
        }                                 \
    }
#define TRILANE_MATH_FUNCTION(name, call)                                          \
    {                                                                              \
        name, { {"R>R", "out0 = " call "(in0)"}, {"C>C", "out0 = " call "(in0)"} } \
    }
#define TRILANE_COMPARISON(name, op, mixed, flipped)                                 \
    {                                                                                \
        name, {                                                                      \
            {"zz>z", "out0 = in0 " op " in1"}, {"JJ>z", "out0 = in0 " op " in1"},    \
                {"qQ>z", "out0 = " mixed}, {"Qq>z", "out0 = " flipped},              \
                {"RR>z", "out0 = in0 " op " in1"}, {"CC>z", "out0 = in0 " op " in1"} \
        }                                                                            \
    }
#define TRILANE_LOGICAL(name, op)                                      \
    {                                                                  \
        name, {                                                        \
            {"zz>z", "out0 = in0 " op " in1"},                         \
                {"JJ>z", "out0 = (in0 != T(0)) " op " (in1 != T(0))"}, \
                {"RR>z", "out0 = (in0 != T(0)) " op " (in1 != T(0))"}, \
                {"CC>z", "out0 = (in0 != T(0)) " op " (in1 != T(0))"}  \
        }                                                              \
    }
#define TRILANE_EXTREME(name, bool_op, int_op)                     \
    {                                                              \
        name, {                                                    \
            {"zz>z", "out0 = in0 " bool_op " in1"},                \
                {"JJ>J", "out0 = in0 " int_op " in1 ? in0 : in1"}, \
                {"RR>R", "out0 = ops::" name "(in0, in1)"},        \
                {"CC>C", "out0 = ops::" name "(in0, in1)"}         \
        }                                                          \
    }
#define TRILANE_ROUNDING(name, call)                                                            \
    {                                                                                           \
        name, { {"z>z", "out0 = in0"}, {"J>J", "out0 = in0"}, {"R>R", "out0 = " call "(in0)"} } \
    }
#define TRILANE_TEST(name, exact, call)                                                          \
    {                                                                                            \
        name, {                                                                                  \
            {"z>z", "out0 = " exact}, {"J>z", "out0 = " exact}, {"R>z", "out0 = " call "(in0)"}, \
                {"C>z", "out0 = " call "(in0)"}                                                  \
        }                                                                                        \
    }
#define TRILANE_BITWISE(name, bool_op, op)                                                  \
    {                                                                                       \
        name, { {"zz>z", "out0 = in0 " bool_op " in1"}, {"JJ>J", "out0 = in0 " op " in1"} } \
    }

inline const UfuncRow kUfuncRows[] = {
    // The order of the first rows is that of enum Op.
    {"add",
     {{"zz>z", "out0 = in0 || in1"},
      {"JJ>J", "out0 = in0 + in1"},
      {"RR>R", "out0 = in0 + in1"},
      {"CC>C", "out0 = in0 + in1"}}},
    {"subtract",
     {{"JJ>J", "out0 = in0 - in1"}, {"RR>R", "out0 = in0 - in1"}, {"CC>C", "out0 = in0 - in1"}}},
    {"multiply",
     {{"zz>z", "out0 = in0 && in1"},
      {"JJ>J", "out0 = in0 * in1"},
      {"RR>R", "out0 = in0 * in1"},
      {"CC>C", "out0 = in0 * in1"}}},
    {"divide",
     {{"JJ>d", "out0 = (double)in0 / (double)in1"},
      {"RR>R", "out0 = in0 / in1"},
      {"CC>C", "out0 = in0 / in1"}}},
    {"floor_divide",
     {{"JJ>J", "out0 = ops::floor_divide(in0, in1)"},
      {"RR>R", "out0 = ops::floor_divide(in0, in1)"}}},
    {"remainder",
     {{"JJ>J", "out0 = ops::remainder(in0, in1)"}, {"RR>R", "out0 = ops::remainder(in0, in1)"}}},
    {"divmod",
     {{"JJ>JJ", "out0 = ops::floor_divide(in0, in1); out1 = ops::remainder(in0, in1)"},
      {"RR>RR", "out0 = ops::floor_divide(in0, in1); out1 = ops::remainder(in0, in1)"}}},
    {"power",
     {{"JJ>J", "out0 = ops::integer_power(in0, in1)"},
      {"RR>R", "out0 = pow(in0, in1)"},
      {"CC>C", "out0 = pow(in0, in1)"}}},
    {"left_shift", {{"JJ>J", "out0 = ops::left_shift(in0, in1)"}}},
    {"right_shift", {{"JJ>J", "out0 = ops::right_shift(in0, in1)"}}},
    TRILANE_BITWISE("bitwise_and", "&&", "&"),
    TRILANE_BITWISE("bitwise_or", "||", "|"),
    TRILANE_BITWISE("bitwise_xor", "!=", "^"),
    {"invert", {{"z>z", "out0 = !in0"}, {"J>J", "out0 = ~in0"}}},
    {"negative", {{"J>J", "out0 = T(0) - in0"}, {"R>R", "out0 = -in0"}, {"C>C", "out0 = -in0"}}},
    {"positive", {{"J>J", "out0 = in0"}, {"R>R", "out0 = in0"}, {"C>C", "out0 = in0"}}},
    {"absolute",
     {{"z>z", "out0 = in0"},
      {"J>J", "out0 = ops::integer_abs(in0)"},
      {"R>R", "out0 = fabs(in0)"},
      {"C>S", "out0 = abs(in0)"}}},
    TRILANE_COMPARISON("equal", "==", "ops::equal_mixed(in0, in1)", "ops::equal_mixed(in1, in0)"),
    TRILANE_COMPARISON("not_equal", "!=", "!ops::equal_mixed(in0, in1)",
                       "!ops::equal_mixed(in1, in0)"),
    TRILANE_COMPARISON("less", "<", "ops::less_mixed(in0, in1)",
                       "!ops::less_mixed(in1, in0) && !ops::equal_mixed(in1, in0)"),
    TRILANE_COMPARISON("less_equal",
                       "<=", "ops::less_mixed(in0, in1) || ops::equal_mixed(in0, in1)",
                       "!ops::less_mixed(in1, in0)"),
    TRILANE_COMPARISON("greater", ">", "!ops::less_mixed(in0, in1) && !ops::equal_mixed(in0, in1)",
                       "ops::less_mixed(in1, in0)"),
    TRILANE_COMPARISON("greater_equal", ">=", "!ops::less_mixed(in0, in1)",
                       "ops::less_mixed(in1, in0) || ops::equal_mixed(in1, in0)"),

    // --- arithmetic
    {"fmod", {{"JJ>J", "out0 = ops::fmod(in0, in1)"}, {"RR>R", "out0 = ops::fmod(in0, in1)"}}},
    {"float_power", {{"dd>d", "out0 = pow(in0, in1)"}, {"DD>D", "out0 = pow(in0, in1)"}}},
    {"conjugate", {{"J>J", "out0 = in0"}, {"R>R", "out0 = in0"}, {"C>C", "out0 = conj(in0)"}}},
    {"square",
     {{"J>J", "out0 = in0 * in0"}, {"R>R", "out0 = in0 * in0"}, {"C>C", "out0 = in0 * in0"}}},
    {"reciprocal",
     {{"J>J", "out0 = in0 == T(0) ? T(0) : T(T(1) / in0)"},
      {"R>R", "out0 = T(1) / in0"},
      {"C>C", "out0 = T(1) / in0"}}},
    TRILANE_REAL_FUNCTION("fabs", "fabs(in0)"),
    {"sign",
     {{"J>J", "out0 = (in0 > T(0)) - (in0 < T(0))"},
      {"R>R", "out0 = ops::sign(in0)"},
      {"C>C", "out0 = trilane::sign(in0)"}}},
    {"gcd", {{"JJ>J", "out0 = ops::gcd(in0, in1)"}}},
    {"lcm", {{"JJ>J", "out0 = ops::lcm(in0, in1)"}}},

    // --- exponentials, logarithms, roots
    TRILANE_MATH_FUNCTION("exp", "exp"),
    TRILANE_MATH_FUNCTION("exp2", "exp2"),
    TRILANE_MATH_FUNCTION("expm1", "expm1"),
    TRILANE_MATH_FUNCTION("log", "log"),
    TRILANE_MATH_FUNCTION("log2", "log2"),
    TRILANE_MATH_FUNCTION("log10", "log10"),
    TRILANE_MATH_FUNCTION("log1p", "log1p"),
    TRILANE_MATH_FUNCTION("sqrt", "sqrt"),
    TRILANE_REAL_FUNCTION("cbrt", "cbrt(in0)"),
    {"rsqrt", {{"R>R", "out0 = T(1) / sqrt(in0)"}}},
    {"logaddexp", {{"RR>R", "out0 = ops::logaddexp(in0, in1)"}}},
    {"logaddexp2", {{"RR>R", "out0 = ops::logaddexp2(in0, in1)"}}},

    // --- trigonometry
    TRILANE_MATH_FUNCTION("sin", "sin"),
    TRILANE_MATH_FUNCTION("cos", "cos"),
    TRILANE_MATH_FUNCTION("tan", "tan"),
    TRILANE_MATH_FUNCTION("arcsin", "asin"),
    TRILANE_MATH_FUNCTION("arccos", "acos"),
    TRILANE_MATH_FUNCTION("arctan", "atan"),
    TRILANE_MATH_FUNCTION("sinh", "sinh"),
    TRILANE_MATH_FUNCTION("cosh", "cosh"),
    TRILANE_MATH_FUNCTION("tanh", "tanh"),
    TRILANE_MATH_FUNCTION("arcsinh", "asinh"),
    TRILANE_MATH_FUNCTION("arccosh", "acosh"),
    TRILANE_MATH_FUNCTION("arctanh", "atanh"),
    {"arctan2", {{"RR>R", "out0 = atan2(in0, in1)"}}},
    {"hypot", {{"RR>R", "out0 = hypot(in0, in1)"}}},
    TRILANE_REAL_FUNCTION("degrees", "in0 * T(57.29577951308232)"),
    TRILANE_REAL_FUNCTION("rad2deg", "in0 * T(57.29577951308232)"),
    TRILANE_REAL_FUNCTION("radians", "in0 * T(0.017453292519943295)"),
    TRILANE_REAL_FUNCTION("deg2rad", "in0 * T(0.017453292519943295)"),
    {"sinc", {{"R>R", "out0 = ops::sinc(in0)"}}},

    // --- bits
    {"bitwise_count", {{"J>B", "out0 = ops::bit_count(in0)"}}},

    // --- logic
    TRILANE_LOGICAL("logical_and", "&&"),
    TRILANE_LOGICAL("logical_or", "||"),
    TRILANE_LOGICAL("logical_xor", "!="),
    {"logical_not",
     {{"z>z", "out0 = !in0"},
      {"J>z", "out0 = in0 == T(0)"},
      {"R>z", "out0 = in0 == T(0)"},
      {"C>z", "out0 = in0 == T(0)"}}},

    // --- extremes
    TRILANE_EXTREME("maximum", "||", ">"),
    TRILANE_EXTREME("minimum", "&&", "<"),
    TRILANE_EXTREME("fmax", "||", ">"),
    TRILANE_EXTREME("fmin", "&&", "<"),
    {"clip",
     {{"zzz>z", "out0 = (in0 || in1) && in2"},
      {"JJJ>J", "out0 = in0 < in1 ? in1 : in0; out0 = out0 > in2 ? in2 : out0"},
      {"RRR>R", "out0 = ops::clip(in0, in1, in2)"},
      {"CCC>C", "out0 = ops::clip(in0, in1, in2)"}}},

    // --- floating
    TRILANE_TEST("isfinite", "true", "is_finite"),
    TRILANE_TEST("isinf", "false", "is_inf"),
    TRILANE_TEST("isnan", "false", "is_nan"),
    {"signbit", {{"R>z", "out0 = ops::signbit(in0)"}}},
    {"copysign", {{"RR>R", "out0 = copysign(in0, in1)"}}},
    {"nextafter",
     {{"ee>e", "out0 = ops::next_half(in0, in1)"},
      {"ff>f", "out0 = nextafter(in0, in1)"},
      {"dd>d", "out0 = nextafter(in0, in1)"}}},
    {"spacing",
     {{"e>e", "out0 = ops::half_spacing(in0)"},
      {"f>f", "out0 = ops::spacing(in0)"},
      {"d>d", "out0 = ops::spacing(in0)"}}},
    {"modf", {{"R>RR", "out0 = ops::modf_part(in0); out1 = ops::modf_whole(in0)"}}},
    {"frexp", {{"R>Ri", "int e_ = 0; out0 = frexp(in0, &e_); out1 = e_"}}},
    {"ldexp",
     {{"Ri>R", "out0 = ops::ldexp(in0, (long long)in1)"}, {"Rq>R", "out0 = ops::ldexp(in0, in1)"}}},
    {"heaviside", {{"RR>R", "out0 = ops::heaviside(in0, in1)"}}},
    TRILANE_ROUNDING("floor", "floor"),
    TRILANE_ROUNDING("ceil", "ceil"),
    TRILANE_ROUNDING("trunc", "trunc"),
    {"rint", {{"R>R", "out0 = rint(in0)"}, {"C>C", "out0 = ops::rint_complex(in0)"}}},

    // --- not NumPy ufuncs, but element-wise all the same
    {"real",
     {{"z>z", "out0 = in0"},
      {"J>J", "out0 = in0"},
      {"R>R", "out0 = in0"},
      {"C>S", "out0 = in0.re"}}},
    {"imag",
     {{"z>z", "out0 = false"},
      {"J>J", "out0 = T(0)"},
      {"R>R", "out0 = T(0)"},
      {"C>S", "out0 = in0.im"}}},
    {"angle",
     {{"z>d", "out0 = 0"},
      {"J>d", "out0 = in0 < T(0) ? 3.141592653589793 : 0.0"},
      {"R>R", "out0 = in0 < T(0) ? T(3.141592653589793) : (in0 == in0 ? T(0) : in0)"},
      {"C>S", "out0 = arg(in0)"}}},
};

// As in NumPy, bools are not taken for int8 by these.
inline constexpr const char* kNoBoolLoops[] = {"subtract", "negative", "positive",
                                               "sign",     "gcd",      "lcm"};

}  // namespace trilane::array
