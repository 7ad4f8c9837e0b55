// Clang's type traits, which our <type_traits> and <utility> are written with, for NVRTC, which has
// some of them only under other names and most not at all.
#pragma once

extern "C++" {
namespace trilane_nvrtc {

template <bool v> struct truth {
    static constexpr bool value = v;
};
template <class T> struct holds {
    using type = T;
};
template <class A, class B> struct same : truth<false> {};
template <class A> struct same<A, A> : truth<true> {};
template <class T> struct no_const : holds<T> {};
template <class T> struct no_const<const T> : holds<T> {};
template <class T> struct no_volatile : holds<T> {};
template <class T> struct no_volatile<volatile T> : holds<T> {};
template <class T> struct no_cv : no_const<typename no_volatile<T>::type> {};
template <class T> struct no_reference : holds<T> {};
template <class T> struct no_reference<T&> : holds<T> {};
template <class T> struct no_reference<T&&> : holds<T> {};
template <class T> struct no_cvref : no_cv<typename no_reference<T>::type> {};
template <class T> struct no_pointer : holds<T> {};
template <class T> struct no_pointer<T*> : holds<T> {};
template <class T> struct no_pointer<T* const> : holds<T> {};
template <class T> struct no_pointer<T* volatile> : holds<T> {};
template <class T> struct no_pointer<T* const volatile> : holds<T> {};
template <class T> struct no_extent : holds<T> {};
template <class T> struct no_extent<T[]> : holds<T> {};
template <class T, size_t n> struct no_extent<T[n]> : holds<T> {};
template <class T> struct no_extents : holds<T> {};
template <class T> struct no_extents<T[]> : no_extents<T> {};
template <class T, size_t n> struct no_extents<T[n]> : no_extents<T> {};
template <class T> struct is_array : truth<false> {};
template <class T> struct is_array<T[]> : truth<true> {};
template <class T, size_t n> struct is_array<T[n]> : truth<true> {};
template <class T> struct is_const : truth<false> {};
template <class T> struct is_const<const T> : truth<true> {};
template <class T> struct is_volatile : truth<false> {};
template <class T> struct is_volatile<volatile T> : truth<true> {};
template <class T> struct is_lvalue : truth<false> {};
template <class T> struct is_lvalue<T&> : truth<true> {};
template <class T> struct is_rvalue : truth<false> {};
template <class T> struct is_rvalue<T&&> : truth<true> {};
template <class T> struct is_reference : truth<is_lvalue<T>::value || is_rvalue<T>::value> {};
template <class T> struct is_plain_pointer : truth<false> {};
template <class T> struct is_plain_pointer<T*> : truth<true> {};
template <class T> struct is_pointer : is_plain_pointer<typename no_cv<T>::type> {};
// Neither an object's type nor a reference takes no const.
template <class T> struct is_function
    : truth<!is_const<const T>::value && !is_reference<T>::value> {};
template <class T> struct is_void : same<typename no_cv<T>::type, void> {};
template <class T> __host__ __device__ auto reference_to(int) -> holds<T&>;
template <class T> __host__ __device__ auto reference_to(...) -> holds<T>;
template <class T> __host__ __device__ auto rvalue_to(int) -> holds<T&&>;
template <class T> __host__ __device__ auto rvalue_to(...) -> holds<T>;
template <class T> __host__ __device__ auto pointer_to(int) -> holds<typename no_reference<T>::type*>;
template <class T> __host__ __device__ auto pointer_to(...) -> holds<T>;
template <class T, bool array, bool function> struct decayed : no_cv<T> {};
template <class T> struct decayed<T, true, false>
    : holds<typename no_extent<T>::type*> {};
template <class T> struct decayed<T, false, true> : holds<T*> {};
template <class T> struct decay_of
    : decayed<typename no_reference<T>::type, is_array<typename no_reference<T>::type>::value,
              is_function<typename no_reference<T>::type>::value> {};

template <class T> struct number : truth<false> {
    static constexpr bool floating = false;
};
template <class S, class U> struct integers : truth<true> {
    static constexpr bool floating = false;
    using with_sign = S;
    using without_sign = U;
};
#define TRILANE_INTEGERS(S, U)                          \
    template <> struct number<S> : integers<S, U> {};   \
    template <> struct number<U> : integers<S, U> {};
TRILANE_INTEGERS(signed char, unsigned char)
TRILANE_INTEGERS(short, unsigned short)
TRILANE_INTEGERS(int, unsigned)
TRILANE_INTEGERS(long, unsigned long)
TRILANE_INTEGERS(long long, unsigned long long)
#undef TRILANE_INTEGERS
template <> struct number<char> : integers<signed char, unsigned char> {};
template <> struct number<bool> : truth<true> {
    static constexpr bool floating = false;
};
template <> struct number<wchar_t> : integers<int, unsigned> {};
template <> struct number<char16_t> : integers<short, unsigned short> {};
template <> struct number<char32_t> : integers<int, unsigned> {};
template <> struct number<float> : truth<false> {
    static constexpr bool floating = true;
};
template <> struct number<double> : truth<false> {
    static constexpr bool floating = true;
};
template <class T> struct is_integer : truth<number<typename no_cv<T>::type>::value> {};
template <class T> struct is_floating : truth<number<typename no_cv<T>::type>::floating> {};
template <class T> struct is_number : truth<is_integer<T>::value || is_floating<T>::value> {};
template <class T, bool = is_number<T>::value> struct is_negatable : truth<(T(-1) < T(0))> {};
template <class T> struct is_negatable<T, false> : truth<false> {};
template <class T> struct is_null : same<typename no_cv<T>::type, decltype(nullptr)> {};
template <class T> struct is_fundamental
    : truth<is_number<T>::value || is_void<T>::value || is_null<T>::value> {};
template <class T> struct is_member_pointer : truth<false> {};
template <class T, class C> struct is_member_pointer<T C::*> : truth<true> {};
template <class T> struct is_scalar
    : truth<is_number<T>::value || is_pointer<T>::value || __is_enum(T) || is_null<T>::value ||
            is_member_pointer<typename no_cv<T>::type>::value> {};
template <class T> struct is_object
    : truth<!is_function<T>::value && !is_reference<T>::value && !is_void<T>::value> {};
template <class T> struct rank : truth<false> {
    static constexpr size_t value = 0;
};
template <class T> struct rank<T[]> {
    static constexpr size_t value = 1 + rank<T>::value;
};
template <class T, size_t n> struct rank<T[n]> {
    static constexpr size_t value = 1 + rank<T>::value;
};
template <class T, unsigned i> struct extent {
    static constexpr size_t value = 0;
};
template <class T> struct extent<T[], 0> {
    static constexpr size_t value = 0;
};
template <class T, unsigned i> struct extent<T[], i> : extent<T, i - 1> {};
template <class T, size_t n> struct extent<T[n], 0> {
    static constexpr size_t value = n;
};
template <class T, size_t n, unsigned i> struct extent<T[n], i> : extent<T, i - 1> {};

template <size_t n, size_t... i> struct indices : indices<n - 1, n - 1, i...> {};
template <size_t... i> struct indices<0, i...> {
    template <template <class U, U...> class S, class T> using type = S<T, T(i)...>;
};

}  // namespace trilane_nvrtc

template <template <class U, U...> class S, class T, T n> using __make_integer_seq =
    typename trilane_nvrtc::indices<size_t(n)>::template type<S, T>;
}  // extern "C++"

#define __is_same(A, B) trilane_nvrtc::same<A, B>::value
#define __remove_const(T) typename trilane_nvrtc::no_const<T>::type
#define __remove_volatile(T) typename trilane_nvrtc::no_volatile<T>::type
#define __remove_cv(T) typename trilane_nvrtc::no_cv<T>::type
#define __remove_reference_t(T) typename trilane_nvrtc::no_reference<T>::type
#define __remove_cvref(T) typename trilane_nvrtc::no_cvref<T>::type
#define __remove_pointer(T) typename trilane_nvrtc::no_pointer<T>::type
#define __remove_extent(T) typename trilane_nvrtc::no_extent<T>::type
#define __remove_all_extents(T) typename trilane_nvrtc::no_extents<T>::type
#define __add_pointer(T) typename decltype(trilane_nvrtc::pointer_to<T>(0))::type
#define __add_lvalue_reference(T) typename decltype(trilane_nvrtc::reference_to<T>(0))::type
#define __add_rvalue_reference(T) typename decltype(trilane_nvrtc::rvalue_to<T>(0))::type
#define __decay(T) typename trilane_nvrtc::decay_of<T>::type
#define __make_signed(T) \
    typename trilane_nvrtc::number<typename trilane_nvrtc::no_cv<T>::type>::with_sign
#define __make_unsigned(T) \
    typename trilane_nvrtc::number<typename trilane_nvrtc::no_cv<T>::type>::without_sign
#define __is_void(T) trilane_nvrtc::is_void<T>::value
#define __is_integral(T) trilane_nvrtc::is_integer<T>::value
#define __is_floating_point(T) trilane_nvrtc::is_floating<T>::value
#define __is_arithmetic(T) trilane_nvrtc::is_number<T>::value
#define __is_fundamental(T) trilane_nvrtc::is_fundamental<T>::value
#define __is_scalar(T) trilane_nvrtc::is_scalar<T>::value
#define __is_object(T) trilane_nvrtc::is_object<T>::value
#define __is_compound(T) !trilane_nvrtc::is_fundamental<T>::value
#define __is_signed(T) trilane_nvrtc::is_negatable<T>::value
#define __is_unsigned(T) \
    (trilane_nvrtc::is_number<T>::value && !trilane_nvrtc::is_negatable<T>::value)
#define __is_pointer(T) trilane_nvrtc::is_pointer<T>::value
#define __is_reference(T) trilane_nvrtc::is_reference<T>::value
#define __is_lvalue_reference(T) trilane_nvrtc::is_lvalue<T>::value
#define __is_rvalue_reference(T) trilane_nvrtc::is_rvalue<T>::value
#define __is_array(T) trilane_nvrtc::is_array<T>::value
#define __is_function(T) trilane_nvrtc::is_function<T>::value
#define __is_const(T) trilane_nvrtc::is_const<T>::value
#define __is_volatile(T) trilane_nvrtc::is_volatile<T>::value
#define __is_convertible(F, T) __is_convertible_to(F, T)
#define __array_rank(T) trilane_nvrtc::rank<T>::value
#define __array_extent(T, i) trilane_nvrtc::extent<T, i>::value

#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000u)
#define __builtin_nanf(tag) __builtin_bit_cast(float, 0x7fffffffu)
#define __builtin_nansf(tag) __builtin_bit_cast(float, 0x7fa00000u)
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define __builtin_nan(tag) __builtin_bit_cast(double, 0x7ff8000000000000ull)
#define __builtin_nans(tag) __builtin_bit_cast(double, 0x7ff4000000000000ull)
