// Atomic objects of any type up to 8 bytes, for cuda::atomic, cuda::std::atomic and their references.
// Scopes make no difference here. Relaxed operations acquire and release as well: that costs the
// same on this target.
#pragma once

#include "../type_traits"
#include "std/detail_alias.h"

namespace std {

#if __cplusplus >= 202002L
enum class memory_order { relaxed, consume, acquire, release, acq_rel, seq_cst };
inline constexpr memory_order memory_order_relaxed = memory_order::relaxed;
inline constexpr memory_order memory_order_consume = memory_order::consume;
inline constexpr memory_order memory_order_acquire = memory_order::acquire;
inline constexpr memory_order memory_order_release = memory_order::release;
inline constexpr memory_order memory_order_acq_rel = memory_order::acq_rel;
inline constexpr memory_order memory_order_seq_cst = memory_order::seq_cst;
#else
enum memory_order {
    memory_order_relaxed,
    memory_order_consume,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
};
#endif

}  // namespace std

namespace cuda {

enum thread_scope {
    thread_scope_system,
    thread_scope_device,
    thread_scope_block,
    thread_scope_thread = 10
};
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

TRILANE_D void atomic_thread_fence(memory_order order, thread_scope = thread_scope_system) {
    if (order != memory_order_relaxed) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
TRILANE_D void atomic_signal_fence(memory_order) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

namespace details {

// What is added to a T, and how many units of its memory that is.
template <class T> struct atomic_step {
    using type = T;
    using word = T;
    static TRILANE_D T units(T v) { return v; }
};
template <class T> struct atomic_step<T*> {
    using type = ptrdiff_t;
    using word = ptrdiff_t;
    static TRILANE_D ptrdiff_t units(ptrdiff_t v) { return v * (ptrdiff_t)sizeof(T); }
};

// The integer of as many bytes: structures are not as well aligned.
template <size_t bytes> struct atomic_bits {
    using type = unsigned char;
};
template <> struct atomic_bits<2> {
    using type = unsigned short;
};
template <> struct atomic_bits<4> {
    using type = unsigned int;
};
template <> struct atomic_bits<8> {
    using type = unsigned long long;
};

// `Self` has address(), that of the value.
template <class T, class Self> class atomic_operations {
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                  "cuda::atomic: on the cpu device values have 1, 2, 4 or 8 bytes");
    static_assert(__is_trivially_copyable(T), "cuda::atomic: values are trivially copyable");

  public:
    using value_type = T;
    using difference_type = typename atomic_step<T>::type;
    static constexpr bool is_always_lock_free = true;

    TRILANE_D bool is_lock_free() const noexcept { return true; }
    TRILANE_D T load(memory_order order = memory_order_seq_cst) const noexcept {
        return __builtin_bit_cast(T, load_bits(order));
    }
    TRILANE_D operator T() const noexcept { return load(); }
    TRILANE_D void store(T value, memory_order order = memory_order_seq_cst) const noexcept {
        if (order == memory_order_seq_cst)
            __atomic_store_n(place(), __builtin_bit_cast(bits, value), __ATOMIC_SEQ_CST);
        else
            __atomic_store_n(place(), __builtin_bit_cast(bits, value), __ATOMIC_RELEASE);
    }
    TRILANE_D T exchange(T value, memory_order = memory_order_seq_cst) const noexcept {
        return __builtin_bit_cast(
            T, __atomic_exchange_n(place(), __builtin_bit_cast(bits, value), __ATOMIC_SEQ_CST));
    }
    TRILANE_D bool compare_exchange_strong(T& expected, T desired,
                                           memory_order = memory_order_seq_cst) const noexcept {
        bits seen = __builtin_bit_cast(bits, expected);
        const bool done =
            __atomic_compare_exchange_n(place(), &seen, __builtin_bit_cast(bits, desired), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        if (!done) expected = __builtin_bit_cast(T, seen);
        return done;
    }
    TRILANE_D bool compare_exchange_strong(T& expected, T desired, memory_order,
                                           memory_order) const noexcept {
        return compare_exchange_strong(expected, desired);
    }
    TRILANE_D bool compare_exchange_weak(T& expected, T desired,
                                         memory_order = memory_order_seq_cst) const noexcept {
        return compare_exchange_strong(expected, desired);
    }
    TRILANE_D bool compare_exchange_weak(T& expected, T desired, memory_order,
                                         memory_order) const noexcept {
        return compare_exchange_strong(expected, desired);
    }

    // Whoever waits looks again and again: there is nobody to be told.
    TRILANE_D void wait(T old, memory_order order = memory_order_seq_cst) const noexcept {
        while (load_bits(order) == __builtin_bit_cast(bits, old)) {
        }
    }
    TRILANE_D void notify_one() const noexcept {}
    TRILANE_D void notify_all() const noexcept {}

    TRILANE_D T fetch_add(difference_type v, memory_order = memory_order_seq_cst) const noexcept {
        return (T)__atomic_fetch_add(word(), step::units(v), __ATOMIC_SEQ_CST);
    }
    TRILANE_D T fetch_sub(difference_type v, memory_order = memory_order_seq_cst) const noexcept {
        return (T)__atomic_fetch_sub(word(), step::units(v), __ATOMIC_SEQ_CST);
    }
    TRILANE_D T fetch_and(T v, memory_order = memory_order_seq_cst) const noexcept {
        return __atomic_fetch_and(at(), v, __ATOMIC_SEQ_CST);
    }
    TRILANE_D T fetch_or(T v, memory_order = memory_order_seq_cst) const noexcept {
        return __atomic_fetch_or(at(), v, __ATOMIC_SEQ_CST);
    }
    TRILANE_D T fetch_xor(T v, memory_order = memory_order_seq_cst) const noexcept {
        return __atomic_fetch_xor(at(), v, __ATOMIC_SEQ_CST);
    }
    TRILANE_D T fetch_min(T v, memory_order = memory_order_seq_cst) const noexcept {
        T old = load();
        while (v < old && !compare_exchange_strong(old, v)) {
        }
        return old;
    }
    TRILANE_D T fetch_max(T v, memory_order = memory_order_seq_cst) const noexcept {
        T old = load();
        while (old < v && !compare_exchange_strong(old, v)) {
        }
        return old;
    }

    TRILANE_D T operator++(int) const noexcept { return fetch_add(1); }
    TRILANE_D T operator--(int) const noexcept { return fetch_sub(1); }
    TRILANE_D T operator++() const noexcept { return fetch_add(1) + 1; }
    TRILANE_D T operator--() const noexcept { return fetch_sub(1) - 1; }
    TRILANE_D T operator+=(difference_type v) const noexcept { return fetch_add(v) + v; }
    TRILANE_D T operator-=(difference_type v) const noexcept { return fetch_sub(v) - v; }
    TRILANE_D T operator&=(T v) const noexcept { return fetch_and(v) & v; }
    TRILANE_D T operator|=(T v) const noexcept { return fetch_or(v) | v; }
    TRILANE_D T operator^=(T v) const noexcept { return fetch_xor(v) ^ v; }

  private:
    using step = atomic_step<T>;
    using bits = typename atomic_bits<sizeof(T)>::type;
    TRILANE_D bits* place() const { return (bits*)at(); }
    TRILANE_D bits load_bits(memory_order order) const {
        return order == memory_order_seq_cst ? __atomic_load_n(place(), __ATOMIC_SEQ_CST)
                                             : __atomic_load_n(place(), __ATOMIC_ACQUIRE);
    }
    TRILANE_D T* at() const { return static_cast<const Self*>(this)->address(); }
    TRILANE_D typename step::word* word() const { return (typename step::word*)at(); }
};

}  // namespace details

template <class T, thread_scope scope = thread_scope_system>
class atomic : public details::atomic_operations<T, atomic<T, scope>> {
  public:
    atomic() noexcept = default;
    TRILANE_HD constexpr atomic(T value) noexcept : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    TRILANE_D T operator=(T value) noexcept {
        this->store(value);
        return value;
    }

  private:
    friend class details::atomic_operations<T, atomic>;
    TRILANE_D T* address() const { return const_cast<T*>(&value_); }
    alignas(sizeof(T)) T value_;
};

template <class T, thread_scope scope = thread_scope_system>
class atomic_ref : public details::atomic_operations<T, atomic_ref<T, scope>> {
  public:
    static constexpr size_t required_alignment = sizeof(T);
    TRILANE_HD explicit atomic_ref(T& value) noexcept : address_(&value) {}
    atomic_ref(const atomic_ref&) noexcept = default;
    atomic_ref& operator=(const atomic_ref&) = delete;
    TRILANE_D T operator=(T value) const noexcept {
        this->store(value);
        return value;
    }

  private:
    friend class details::atomic_operations<T, atomic_ref>;
    TRILANE_D T* address() const { return address_; }
    T* address_;
};

}  // namespace cuda
