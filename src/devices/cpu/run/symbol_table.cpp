// The table of symbols for generated code: math functions by name and the support routines that
// code generation calls by itself.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "devices/cpu/check/check_entries.h"
#include "devices/cpu/run/runtime_symbols.h"
#include "devices/cpu/run/support_routines.h"

namespace trilane::cpu {

namespace {

template <typename Function>
void* address_of(Function* function) {
    return reinterpret_cast<void*>(function);
}

// The formatter breaks a list of macro calls differently each time it runs over it.
// clang-format off
#define TRILANE_UNARY(X)                                                                           \
    X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(cbrt) X(erf) X(erfc)        \
    X(tgamma) X(lgamma) X(ceil) X(floor) X(trunc) X(round) X(rint) X(nearbyint) X(fabs) X(logb)    \
    X(exp10) X(j0) X(j1) X(y0) X(y1) X(roundeven)
#define TRILANE_BINARY(X) \
    X(atan2) X(pow) X(hypot) X(fmod) X(remainder) X(fmax) X(fmin) X(fdim) X(copysign) X(nextafter)
// clang-format on

#define TRILANE_ENTRY1(NAME) \
    {#NAME, address_of<double(double)>(::NAME)}, {#NAME "f", address_of<float(float)>(::NAME##f)},
#define TRILANE_ENTRY2(NAME)                             \
    {#NAME, address_of<double(double, double)>(::NAME)}, \
        {#NAME "f", address_of<float(float, float)>(::NAME##f)},

const RuntimeSymbol kMath[] = {
    TRILANE_UNARY(TRILANE_ENTRY1)
        TRILANE_BINARY(TRILANE_ENTRY2){"fma", address_of<double(double, double, double)>(::fma)},
    {"fmaf", address_of<float(float, float, float)>(::fmaf)},
    {"ldexp", address_of<double(double, int)>(::ldexp)},
    {"ldexpf", address_of<float(float, int)>(::ldexpf)},
    {"scalbn", address_of<double(double, int)>(::scalbn)},
    {"scalbnf", address_of<float(float, int)>(::scalbnf)},
    {"scalbln", address_of<double(double, long)>(::scalbln)},
    {"scalblnf", address_of<float(float, long)>(::scalblnf)},
    {"frexp", address_of<double(double, int*)>(::frexp)},
    {"frexpf", address_of<float(float, int*)>(::frexpf)},
    {"modf", address_of<double(double, double*)>(::modf)},
    {"modff", address_of<float(float, float*)>(::modff)},
    {"ilogb", address_of<int(double)>(::ilogb)},
    {"ilogbf", address_of<int(float)>(::ilogbf)},
    {"lrint", address_of<long(double)>(::lrint)},
    {"lrintf", address_of<long(float)>(::lrintf)},
    {"llrint", address_of<long long(double)>(::llrint)},
    {"llrintf", address_of<long long(float)>(::llrintf)},
    {"lround", address_of<long(double)>(::lround)},
    {"lroundf", address_of<long(float)>(::lroundf)},
    {"llround", address_of<long long(double)>(::llround)},
    {"llroundf", address_of<long long(float)>(::llroundf)},
    {"remquo", address_of<double(double, double, int*)>(::remquo)},
    {"remquof", address_of<float(float, float, int*)>(::remquof)},
    {"sincos", address_of<void(double, double*, double*)>(::sincos)},
    {"sincosf", address_of<void(float, float*, float*)>(::sincosf)},
    {"jn", address_of<double(int, double)>(::jn)},
    {"jnf", address_of<float(int, float)>(::jnf)},
    {"yn", address_of<double(int, double)>(::yn)},
    {"ynf", address_of<float(int, float)>(::ynf)},
};

const RuntimeSymbol kSupport[] = {
    {"memcpy", address_of<void*(void*, const void*, size_t)>(::memcpy)},
    {"memmove", address_of<void*(void*, const void*, size_t)>(::memmove)},
    {"memset", address_of<void*(void*, int, size_t)>(::memset)},
    {"memcmp", address_of<int(const void*, const void*, size_t)>(::memcmp)},
    {"bcmp", address_of<int(const void*, const void*, size_t)>(::memcmp)},
    {"strlen", address_of<size_t(const char*)>(::strlen)},
    {"__divti3", reinterpret_cast<void*>(support::divide_i128)},
    {"__modti3", reinterpret_cast<void*>(support::remainder_i128)},
    {"__udivti3", reinterpret_cast<void*>(support::divide_u128)},
    {"__umodti3", reinterpret_cast<void*>(support::remainder_u128)},
    {"__truncsfbf2", reinterpret_cast<void*>(support::float_to_bfloat)},
    {"__truncdfbf2", reinterpret_cast<void*>(support::double_to_bfloat)},
    {"__truncdfhf2", reinterpret_cast<void*>(support::double_to_half)},
    {"__truncsfhf2", reinterpret_cast<void*>(support::float_to_half)},
    {"__extendhfsf2", reinterpret_cast<void*>(support::half_to_float)},
};

const RuntimeSymbol kEntries[] = {
    {"__trl_rt_thread_idx", address_of(trilane_rt_thread_idx)},
    {"__trl_rt_block_idx", address_of(trilane_rt_block_idx)},
    {"__trl_rt_block_dim", address_of(trilane_rt_block_dim)},
    {"__trl_rt_grid_dim", address_of(trilane_rt_grid_dim)},
    {"__trl_rt_cluster_dim", address_of(trilane_rt_cluster_dim)},
    {"__trl_rt_cluster_map", address_of(trilane_rt_cluster_map)},
    {"__trl_rt_cluster_rank", address_of(trilane_rt_cluster_rank)},
    {"__trl_rt_shared", address_of(trilane_rt_shared)},
    {"__trl_rt_dynamic_offset", address_of(trilane_rt_dynamic_offset)},
    {"__trl_rt_is_shared", address_of(trilane_rt_is_shared)},
    {"__trl_rt_smid", address_of(trilane_rt_smid)},
    {"__trl_rt_nsmid", address_of(trilane_rt_nsmid)},
    {"__trl_rt_clock", address_of(trilane_rt_clock)},
    {"__trl_rt_trap", address_of(trilane_rt_trap)},
    {"__trl_rt_surface_fault", address_of(trilane_rt_surface_fault)},
    {"__trl_rt_parted", address_of(trilane_rt_parted)},
    {"__trl_rt_stuck", address_of(trilane_rt_stuck)},
    {"__trl_rt_warp_exchange", address_of(trilane_rt_warp_exchange)},
    {"__trl_rt_launch", address_of(trilane_rt_launch)},
    {"__trl_rt_check_begin", address_of(trilane_rt_check_begin)},
    {"__trl_rt_check_size", address_of(trilane_rt_check_size)},
    {"__trl_rt_check_dynamic_shared", address_of(trilane_rt_check_dynamic_shared)},
    {"__trl_rt_check_access", address_of(trilane_rt_check_access)},
    {"vprintf", address_of(trilane_rt_vprintf)},
    {"__assertfail", address_of(trilane_rt_assertfail)},
    {"malloc", address_of(trilane_rt_malloc)},
    {"free", address_of(trilane_rt_free)},
};

}  // namespace

std::span<const RuntimeSymbol> runtime_symbols() {
    static const std::vector<RuntimeSymbol> all = [] {
        std::vector<RuntimeSymbol> symbols;
        symbols.insert(symbols.end(), std::begin(kMath), std::end(kMath));
        symbols.insert(symbols.end(), std::begin(kSupport), std::end(kSupport));
        symbols.insert(symbols.end(), std::begin(kEntries), std::end(kEntries));
        return symbols;
    }();
    return all;
}

}  // namespace trilane::cpu
