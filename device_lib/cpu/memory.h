// printf, assert, the kernel heap, byte copies, cache-hinted loads and stores, address-space
// queries, clocks and traps.
#pragma once

extern "C" {
__host__ __device__ int printf(const char* format, ...);
__host__ __device__ void* malloc(size_t size);
__host__ __device__ void free(void* pointer);
// The runtime's: ends the launch with an assertion failure.
__device__ void __assertfail(const char* message, const char* file, unsigned line,
                             const char* function, size_t char_size) __attribute__((noreturn));
__host__ __device__ void trilane_libc_abort() __asm__("abort") __attribute__((noreturn));
}

TRILANE_HD void __assert_fail(const char* message, const char* file, unsigned line,
                              const char* function) {
#ifdef __CUDA_ARCH__
    __assertfail(message, file, line, function, 1);
#else
    trilane_libc_abort();
#endif
}
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, __PRETTY_FUNCTION__))

TRILANE_D void* calloc(size_t count, size_t size) {
    void* p = malloc(count * size);
    if (p) __builtin_memset(p, 0, count * size);
    return p;
}
TRILANE_D void __trap() { __builtin_trap(); }
TRILANE_D void abort() { __builtin_trap(); }
TRILANE_D void exit(int) { __nvvm_exit(); }
TRILANE_D void __exit() { __nvvm_exit(); }
TRILANE_D void __brkpt(int = 0) {}
TRILANE_D void __prof_trigger(int) {}

TRILANE_HD void* memcpy(void* to, const void* from, size_t n) {
    return __builtin_memcpy(to, from, n);
}
TRILANE_HD void* memmove(void* to, const void* from, size_t n) {
    return __builtin_memmove(to, from, n);
}
TRILANE_HD void* memset(void* to, int value, size_t n) { return __builtin_memset(to, value, n); }
TRILANE_HD_CALL int memcmp(const void* a, const void* b, size_t n) {
    const unsigned char* x = (const unsigned char*)a;
    const unsigned char* y = (const unsigned char*)b;
    for (size_t i = 0; i < n; ++i)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}
TRILANE_HD_CALL size_t strlen(const char* s) {
    size_t n = 0;
    while (s[n]) ++n;
    return n;
}
TRILANE_HD_CALL int strcmp(const char* a, const char* b) {
    for (; *a && *a == *b; ++a) ++b;
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}
TRILANE_HD_CALL int strncmp(const char* a, const char* b, size_t n) {
    for (; n && *a && *a == *b; ++a, --n) ++b;
    return n ? (int)(unsigned char)*a - (int)(unsigned char)*b : 0;
}
TRILANE_HD_CALL char* strcpy(char* to, const char* from) {
    char* p = to;
    while ((*p++ = *from++)) {
    }
    return to;
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
__device__ __attribute__((nodebug)) inline void* operator new(size_t n) { return malloc(n); }
__device__ __attribute__((nodebug)) inline void* operator new[](size_t n) { return malloc(n); }
TRILANE_HD void* operator new(size_t, void* p) noexcept { return p; }
TRILANE_HD void* operator new[](size_t, void* p) noexcept { return p; }
__device__ __attribute__((nodebug)) inline void operator delete(void* p) noexcept { free(p); }
__device__ __attribute__((nodebug)) inline void operator delete[](void* p) noexcept { free(p); }
__device__ __attribute__((nodebug)) inline void operator delete(void* p, size_t) noexcept {
    free(p);
}
__device__ __attribute__((nodebug)) inline void operator delete[](void* p, size_t) noexcept {
    free(p);
}
#pragma clang diagnostic pop
extern "C" __device__ __attribute__((nodebug)) inline void __cxa_pure_virtual() {
    __builtin_trap();
}

// Cache hints mean nothing here: a plain access. `cv` and `wt` are re-read, so volatile.
template <class T> TRILANE_D T __ldg(const T* p) { return *p; }
template <class T> TRILANE_D T __ldcg(const T* p) { return *p; }
template <class T> TRILANE_D T __ldca(const T* p) { return *p; }
template <class T> TRILANE_D T __ldcs(const T* p) { return *p; }
template <class T> TRILANE_D T __ldlu(const T* p) { return *p; }
template <class T> TRILANE_D T __ldcv(const T* p) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    T value = *p;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return value;
}
template <class T> struct trilane_same { using type = T; };
template <class T> using trilane_same_t = typename trilane_same<T>::type;
template <class T> TRILANE_D void __stcg(T* p, trilane_same_t<T> value) { *p = value; }
template <class T> TRILANE_D void __stcs(T* p, trilane_same_t<T> value) { *p = value; }
template <class T> TRILANE_D void __stwb(T* p, trilane_same_t<T> value) { *p = value; }
template <class T> TRILANE_D void __stwt(T* p, trilane_same_t<T> value) { *p = value; }

TRILANE_D unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
TRILANE_D unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
TRILANE_D unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
TRILANE_D unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }

// Clock ticks are nanoseconds.
TRILANE_D clock_t clock() { return (clock_t)__nvvm_read_ptx_sreg_clock64(); }
TRILANE_D long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
TRILANE_D unsigned long long __globaltimer() { return __nvvm_read_ptx_sreg_globaltimer(); }
TRILANE_D void __nanosleep(unsigned int ns) { __nvvm_nanosleep(ns); }
