// Surface objects: reads and writes of the elements of an array, by byte in a row. What lies outside
// is read as zero and not written, taken for the nearest inside, or ends the kernel, as asked.
#pragma once

typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero = 0,
    cudaBoundaryModeClamp = 1,
    cudaBoundaryModeTrap = 2
};

extern "C" __device__ void __trl_rt_surface_fault(const char* function, int x, int y, int z);

template <int Bytes> struct trilane_surface_word;
#define TRILANE_SURFACE_WORD(bytes, word)                                          \
    template <> struct trilane_surface_word<bytes> {                               \
        using type = word;                                                         \
    };
TRILANE_SURFACE_WORD(1, unsigned char)
TRILANE_SURFACE_WORD(2, unsigned short)
TRILANE_SURFACE_WORD(4, unsigned int)
TRILANE_SURFACE_WORD(8, uint2)
TRILANE_SURFACE_WORD(16, uint4)
#undef TRILANE_SURFACE_WORD

TRILANE_D int trilane_clamped(int i, int last) {
    i = i > last ? last : i;
    return i < 0 ? 0 : i;
}

// The address of a value of `nbytes` at a place, null if it is outside and to be left alone.
TRILANE_D unsigned char* trilane_surface_place(const char* function, unsigned long long handle,
                                               int nbytes, int x, int y, int z,
                                               cudaSurfaceBoundaryMode mode) {
    const trilane_texture* s = (const trilane_texture*)handle;
    int last_x = s->width * s->element_bytes - nbytes;
    bool inside = x >= 0 && x <= last_x && y >= 0 && y < s->height && z >= 0 && z < s->depth;
    if (!inside || x % nbytes != 0) {
        if (mode == cudaBoundaryModeTrap || last_x < 0 || x % nbytes != 0) {
            if (mode == cudaBoundaryModeZero && x % nbytes == 0) return nullptr;
            __trl_rt_surface_fault(function, x, y, z);
            return nullptr;
        }
        if (mode == cudaBoundaryModeZero) return nullptr;
        x = trilane_clamped(x, last_x);
        y = trilane_clamped(y, s->height - 1);
        z = trilane_clamped(z, s->depth - 1);
    }
    return (unsigned char*)s->data + (unsigned long long)z * s->slice_pitch +
           (unsigned long long)y * s->row_pitch + (unsigned long long)x;
}

template <class T>
TRILANE_D T trilane_surface_read(const char* function, unsigned long long handle, int x, int y,
                                 int z, cudaSurfaceBoundaryMode mode) {
    using Word = typename trilane_surface_word<sizeof(T)>::type;
    const unsigned char* place =
        trilane_surface_place(function, handle, sizeof(T), x, y, z, mode);
    Word word = Word();
    if (place != nullptr) word = *(const Word*)place;
    T value;
    __builtin_memcpy(&value, &word, sizeof(T));
    return value;
}

template <class T>
TRILANE_D void trilane_surface_write(const char* function, T value, unsigned long long handle,
                                     int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    using Word = typename trilane_surface_word<sizeof(T)>::type;
    unsigned char* place = trilane_surface_place(function, handle, sizeof(T), x, y, z, mode);
    Word word;
    __builtin_memcpy(&word, &value, sizeof(T));
    if (place != nullptr) *(Word*)place = word;
}

#define TRILANE_LIST(...) __VA_ARGS__
#define TRILANE_SURFACE_FUNCTIONS(name, parameters, arguments, x, y, z)                      \
    template <class T>                                                                       \
    TRILANE_D T name##read(cudaSurfaceObject_t surface, parameters,                          \
                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {            \
        return trilane_surface_read<T>(#name "read", surface, x, y, z, mode);                \
    }                                                                                        \
    template <class T>                                                                       \
    TRILANE_D void name##read(T* value, cudaSurfaceObject_t surface, parameters,             \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {         \
        *value = name##read<T>(surface, arguments, mode);                                    \
    }                                                                                        \
    template <class T>                                                                       \
    TRILANE_D void name##write(T value, cudaSurfaceObject_t surface, parameters,             \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {        \
        trilane_surface_write<T>(#name "write", value, surface, x, y, z, mode);              \
    }
TRILANE_SURFACE_FUNCTIONS(surf1D, int x, x, x, 0, 0)
TRILANE_SURFACE_FUNCTIONS(surf2D, TRILANE_LIST(int x, int y), TRILANE_LIST(x, y), x, y, 0)
TRILANE_SURFACE_FUNCTIONS(surf3D, TRILANE_LIST(int x, int y, int z), TRILANE_LIST(x, y, z), x, y,
                          z)
TRILANE_SURFACE_FUNCTIONS(surf1DLayered, TRILANE_LIST(int x, int layer), TRILANE_LIST(x, layer),
                          x, 0, layer)
TRILANE_SURFACE_FUNCTIONS(surf2DLayered, TRILANE_LIST(int x, int y, int layer),
                          TRILANE_LIST(x, y, layer), x, y, layer)
TRILANE_SURFACE_FUNCTIONS(surfCubemap, TRILANE_LIST(int x, int y, int face),
                          TRILANE_LIST(x, y, face), x, y, face)
TRILANE_SURFACE_FUNCTIONS(surfCubemapLayered, TRILANE_LIST(int x, int y, int layer_face),
                          TRILANE_LIST(x, y, layer_face), x, y, layer_face)
#undef TRILANE_SURFACE_FUNCTIONS
#undef TRILANE_LIST
