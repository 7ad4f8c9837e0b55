// char1 .. double4 with CUDA's alignments, dim3, and their make_ functions.
#pragma once

#define TRILANE_VECTOR_1(name, type)               \
    struct name##1 {                               \
        type x;                                    \
    };                                             \
    TRILANE_HD name##1 make_##name##1(type x) {    \
        name##1 v;                                 \
        v.x = x;                                   \
        return v;                                  \
    }
#define TRILANE_VECTOR_2(name, type, align)                \
    struct __attribute__((aligned(align))) name##2 {       \
        type x, y;                                         \
    };                                                     \
    TRILANE_HD name##2 make_##name##2(type x, type y) {    \
        name##2 v;                                         \
        v.x = x;                                           \
        v.y = y;                                           \
        return v;                                          \
    }
#define TRILANE_VECTOR_3(name, type)                               \
    struct name##3 {                                               \
        type x, y, z;                                              \
    };                                                             \
    TRILANE_HD name##3 make_##name##3(type x, type y, type z) {    \
        name##3 v;                                                 \
        v.x = x;                                                   \
        v.y = y;                                                   \
        v.z = z;                                                   \
        return v;                                                  \
    }
#define TRILANE_VECTOR_4(name, type, align)                                \
    struct __attribute__((aligned(align))) name##4 {                       \
        type x, y, z, w;                                                   \
    };                                                                     \
    TRILANE_HD name##4 make_##name##4(type x, type y, type z, type w) {    \
        name##4 v;                                                         \
        v.x = x;                                                           \
        v.y = y;                                                           \
        v.z = z;                                                           \
        v.w = w;                                                           \
        return v;                                                          \
    }
#define TRILANE_VECTORS(name, type, align2, align4) \
    TRILANE_VECTOR_1(name, type)                    \
    TRILANE_VECTOR_2(name, type, align2)            \
    TRILANE_VECTOR_3(name, type)                    \
    TRILANE_VECTOR_4(name, type, align4)

TRILANE_VECTORS(char, signed char, 2, 4)
TRILANE_VECTORS(uchar, unsigned char, 2, 4)
TRILANE_VECTORS(short, short, 4, 8)
TRILANE_VECTORS(ushort, unsigned short, 4, 8)
TRILANE_VECTORS(int, int, 8, 16)
TRILANE_VECTORS(uint, unsigned int, 8, 16)
TRILANE_VECTORS(long, long, 16, 16)
TRILANE_VECTORS(ulong, unsigned long, 16, 16)
TRILANE_VECTORS(longlong, long long, 16, 16)
TRILANE_VECTORS(ulonglong, unsigned long long, 16, 16)
TRILANE_VECTORS(float, float, 8, 16)
TRILANE_VECTORS(double, double, 16, 16)

#undef TRILANE_VECTORS
#undef TRILANE_VECTOR_4
#undef TRILANE_VECTOR_3
#undef TRILANE_VECTOR_2
#undef TRILANE_VECTOR_1

struct dim3 {
    unsigned int x, y, z;
    TRILANE_HD constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    TRILANE_HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    TRILANE_HD constexpr operator uint3() const { return uint3{x, y, z}; }
};
