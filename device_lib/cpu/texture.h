// Texture objects: a handle is the address of a description that the device wrote. Coordinates,
// address modes and filters are those of the CUDA guide; a linear filter's weights are multiples of
// 1/256.
#pragma once

typedef unsigned long long cudaTextureObject_t;
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0,
    cudaAddressModeClamp = 1,
    cudaAddressModeMirror = 2,
    cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };

// As the cpu device's TextureLayout (src/devices/cpu/texture_layout.h).
struct trilane_texture {
    const unsigned char* data;
    unsigned long long row_pitch, slice_pitch;  // bytes
    const float* decode;                        // sRGB: of the 256 bytes; else null
    int width, height, depth;                   // elements; 1 for an axis that there is not
    int element_bytes;
    unsigned kind;  // of channels: 0 signed, 1 unsigned, 2 float
    unsigned bits, channels;
    unsigned to_float;  // integers become 0..1 or -1..1
    unsigned normalized, linear;
    unsigned address[3];
    unsigned border[4];  // bits of what lies outside
    unsigned reserved[3];
};
static_assert(sizeof(trilane_texture) == 112, "as the device writes it");

// The channels of an element as a texture gives them: bits of a float or of an integer.
struct trilane_words {
    unsigned x, y, z, w;
};

TRILANE_D const trilane_texture* trilane_texture_of(unsigned long long handle) {
    return (const trilane_texture*)handle;
}

TRILANE_D bool trilane_gives_floats(const trilane_texture* t) {
    return t->kind == 2 || t->to_float != 0;
}

TRILANE_D unsigned trilane_channel(const trilane_texture* t, const unsigned char* element,
                                   unsigned channel) {
    TRILANE_EXACT
    if (channel >= t->channels) return 0u;  // the fourth too
    if (t->bits == 32) return ((const unsigned*)element)[channel];
    int number;
    float most;
    if (t->bits == 8) {
        unsigned char byte = element[channel];
        bool coded = t->decode != nullptr && (t->channels == 2 ? channel == 0 : channel < 3);
        if (coded) return __float_as_uint(t->decode[byte]);
        number = t->kind == 0 ? (int)(signed char)byte : (int)byte;
        most = t->kind == 0 ? 127.0f : 255.0f;
    } else {
        unsigned short half = ((const unsigned short*)element)[channel];
        if (t->kind == 2) {
            _Float16 value;
            __builtin_memcpy(&value, &half, 2);
            return __float_as_uint((float)value);
        }
        number = t->kind == 0 ? (int)(short)half : (int)half;
        most = t->kind == 0 ? 32767.0f : 65535.0f;
    }
    if (t->to_float == 0) return (unsigned)number;
    return __float_as_uint(__builtin_fmaxf((float)number / most, -1.0f));
}

// The first N channels of an element inside.
template <int N>
TRILANE_D trilane_words trilane_element(const trilane_texture* t, int x, int y, int z) {
    const unsigned char* element = t->data + (unsigned long long)z * t->slice_pitch +
                                   (unsigned long long)y * t->row_pitch +
                                   (unsigned long long)x * (unsigned)t->element_bytes;
    trilane_words words = {0, 0, 0, 0};
    words.x = trilane_channel(t, element, 0);
    if (N > 1) words.y = trilane_channel(t, element, 1);
    if (N > 2) {
        words.z = trilane_channel(t, element, 2);
        words.w = trilane_channel(t, element, 3);
    }
    return words;
}

// Where a coordinate lies in units of elements. Without normalised coordinates there are no wrap and
// mirror; with them the coordinate is first brought into the period, so that no index is far off.
TRILANE_D float trilane_place(const trilane_texture* t, float coordinate, int count, int axis) {
    TRILANE_EXACT
    if (t->normalized != 0) {
        if (t->address[axis] == cudaAddressModeWrap)
            coordinate = coordinate - __builtin_floorf(coordinate);
        else if (t->address[axis] == cudaAddressModeMirror)
            coordinate = coordinate - 2.0f * __builtin_floorf(coordinate * 0.5f);
        coordinate = coordinate * (float)count;
    }
    return __builtin_fminf(__builtin_fmaxf(coordinate, -1073741824.0f), 1073741824.0f);
}

// The element that an index means; -1 if it is the border.
TRILANE_D int trilane_index(const trilane_texture* t, int i, int count, int axis) {
    unsigned mode = t->address[axis];
    if (mode == cudaAddressModeBorder) return i < 0 || i >= count ? -1 : i;
    if (t->normalized != 0 && mode == cudaAddressModeWrap) {
        i = i < 0 ? i + count : i;
        i = i >= count ? i - count : i;
    } else if (t->normalized != 0 && mode == cudaAddressModeMirror) {
        i = i < 0 ? -1 - i : i;
        i = i >= 2 * count ? i - 2 * count : i;
        i = i >= count ? 2 * count - 1 - i : i;
    }
    i = i < 0 ? 0 : i;
    return i >= count ? count - 1 : i;
}

template <int N>
TRILANE_D trilane_words trilane_texel(const trilane_texture* t, int x, int y, int z) {
    if (x < 0 || y < 0 || z < 0) {
        trilane_words border = {t->border[0], t->border[1], t->border[2], t->border[3]};
        return border;
    }
    return trilane_element<N>(t, x, y, z);
}

// An axis of a linear filter: the two elements and the second one's weight, in 256ths.
struct trilane_pair {
    int first, second, weight;
};

// Where both elements are clamped to one, the place itself is: the weight is 0 there.
TRILANE_D trilane_pair trilane_pair_of(const trilane_texture* t, float place, int count,
                                       int axis) {
    TRILANE_EXACT
    float fixed = __builtin_floorf((place - 0.5f) * 256.0f + 0.5f);
    float left = __builtin_floorf(fixed * 0.00390625f);
    unsigned mode = t->address[axis];
    bool clamps = mode == cudaAddressModeClamp ||
                  (t->normalized == 0 && mode != cudaAddressModeBorder);
    bool beyond = left < 0.0f || (int)left >= count - 1;
    trilane_pair pair;
    pair.first = trilane_index(t, (int)left, count, axis);
    pair.second = trilane_index(t, (int)left + 1, count, axis);
    pair.weight = clamps && beyond ? 0 : (int)(fixed - left * 256.0f);
    return pair;
}

// The part of `both` that lies where two weights meet: of a pair of axes, the corner (1, 1).
TRILANE_D int trilane_shared_weight(int one, int other) { return (one * other + 128) >> 8; }

// The weighted mean of the 2, 4 or 8 elements around a place; a layer is no axis. The weights of
// corners are rounded to 256ths as well, so that they sum to one, as an H200 does it: of x and y,
// or of x and z, and those are split by y. An array of one axis is a row that is read at y = 0, half
// way to the row before: with the border as address mode of y half of the mean is the border.
// `Layers`: it is one of a stack, and not so read.
template <int N, int Axes, bool Layers>
TRILANE_D trilane_words trilane_filtered(const trilane_texture* t, float px, float py, float pz,
                                         int layer) {
    TRILANE_EXACT
    trilane_pair x = trilane_pair_of(t, px, t->width, 0);
    trilane_pair y = {0, 0, 0}, z = {layer, layer, 0};
    if (Axes > 1) y = trilane_pair_of(t, py, t->height, 1);
    if (Axes > 2) z = trilane_pair_of(t, pz, t->depth, 2);
    int b = Axes > 2 ? z.weight : y.weight;
    int meeting = Axes > 1 ? trilane_shared_weight(x.weight, b) : 0;
    bool beside_border = Axes == 1 && !Layers && t->address[1] == cudaAddressModeBorder;
    float outside = beside_border ? 0.5f : 0.0f;
    float r = outside * __uint_as_float(t->border[0]), g = outside * __uint_as_float(t->border[1]);
    float bl = outside * __uint_as_float(t->border[2]), al = outside * __uint_as_float(t->border[3]);
#pragma clang loop unroll(disable)
    for (int corner = 0; corner < (1 << Axes); ++corner) {
        bool right = (corner & 1) != 0, low = (corner & 2) != 0, deep = (corner & 4) != 0;
        bool other = Axes > 2 ? deep : low;
        int share = right ? x.weight : 256 - x.weight;
        if (Axes == 1) {
            int half = (x.weight + 1) >> 1;
            share = !beside_border ? share : right ? half : 128 - half;
        } else {
            int far = right ? meeting : b - meeting;
            share = other ? far : share - far;
        }
        if (Axes > 2) {
            int part = trilane_shared_weight(share, y.weight);
            share = low ? part : share - part;
        }
        float weight = (float)share * 0.00390625f;
        trilane_words v = trilane_texel<N>(t, right ? x.second : x.first,
                                           low ? y.second : y.first, deep ? z.second : z.first);
        r = r + weight * __uint_as_float(v.x);
        if (N > 1) g = g + weight * __uint_as_float(v.y);
        if (N > 2) bl = bl + weight * __uint_as_float(v.z);
        if (N > 2) al = al + weight * __uint_as_float(v.w);
    }
    trilane_words words = {__float_as_uint(r), __float_as_uint(g), __float_as_uint(bl),
                           __float_as_uint(al)};
    return words;
}

template <int N, int Axes, bool Layers>
TRILANE_D trilane_words trilane_sample(const trilane_texture* t, float x, float y, float z,
                                       int layer) {
    float px = trilane_place(t, x, t->width, 0);
    float py = Axes > 1 ? trilane_place(t, y, t->height, 1) : 0.0f;
    float pz = Axes > 2 ? trilane_place(t, z, t->depth, 2) : 0.0f;
    if (t->linear != 0) return trilane_filtered<N, Axes, Layers>(t, px, py, pz, layer);
    int ix = trilane_index(t, (int)__builtin_floorf(px), t->width, 0);
    int iy = Axes > 1 ? trilane_index(t, (int)__builtin_floorf(py), t->height, 1) : 0;
    int iz = Axes > 2 ? trilane_index(t, (int)__builtin_floorf(pz), t->depth, 2) : layer;
    return trilane_texel<N>(t, ix, iy, iz);
}

// A layer that is not there, before the first too, is the last.
TRILANE_D int trilane_layer(const trilane_texture* t, int layer, int first, int per) {
    int last = t->depth / per - 1;
    layer = layer < 0 || layer > last ? last : layer;
    return layer * per + first;
}

// --- what a texture function returns: a number, or a vector of one, two or four

template <class T> struct trilane_texture_number;
#define TRILANE_TEXTURE_INTEGER(type)                                              \
    template <> struct trilane_texture_number<type> {                              \
        static TRILANE_D type of(unsigned word) { return (type)word; }             \
    };
TRILANE_TEXTURE_INTEGER(char)
TRILANE_TEXTURE_INTEGER(signed char)
TRILANE_TEXTURE_INTEGER(unsigned char)
TRILANE_TEXTURE_INTEGER(short)
TRILANE_TEXTURE_INTEGER(unsigned short)
TRILANE_TEXTURE_INTEGER(int)
TRILANE_TEXTURE_INTEGER(unsigned int)
#undef TRILANE_TEXTURE_INTEGER
template <> struct trilane_texture_number<float> {
    static TRILANE_D float of(unsigned word) { return __uint_as_float(word); }
};

template <class T> struct trilane_texture_value {
    static constexpr int channels = 1;
    static TRILANE_D T of(const trilane_words& w) { return trilane_texture_number<T>::of(w.x); }
};
#define TRILANE_TEXTURE_VECTORS(name, type)                                        \
    template <> struct trilane_texture_value<name##1> {                            \
        static constexpr int channels = 1;                                         \
        static TRILANE_D name##1 of(const trilane_words& w) {                      \
            return make_##name##1(trilane_texture_number<type>::of(w.x));          \
        }                                                                          \
    };                                                                             \
    template <> struct trilane_texture_value<name##2> {                            \
        static constexpr int channels = 2;                                         \
        static TRILANE_D name##2 of(const trilane_words& w) {                      \
            return make_##name##2(trilane_texture_number<type>::of(w.x),           \
                                  trilane_texture_number<type>::of(w.y));          \
        }                                                                          \
    };                                                                             \
    template <> struct trilane_texture_value<name##4> {                            \
        static constexpr int channels = 4;                                         \
        static TRILANE_D name##4 of(const trilane_words& w) {                      \
            return make_##name##4(trilane_texture_number<type>::of(w.x),           \
                                  trilane_texture_number<type>::of(w.y),           \
                                  trilane_texture_number<type>::of(w.z),           \
                                  trilane_texture_number<type>::of(w.w));          \
        }                                                                          \
    };
TRILANE_TEXTURE_VECTORS(char, signed char)
TRILANE_TEXTURE_VECTORS(uchar, unsigned char)
TRILANE_TEXTURE_VECTORS(short, short)
TRILANE_TEXTURE_VECTORS(ushort, unsigned short)
TRILANE_TEXTURE_VECTORS(int, int)
TRILANE_TEXTURE_VECTORS(uint, unsigned int)
TRILANE_TEXTURE_VECTORS(float, float)
#undef TRILANE_TEXTURE_VECTORS

template <class T, int Axes>
TRILANE_D T trilane_sampled(unsigned long long handle, float x, float y, float z) {
    return trilane_texture_value<T>::of(trilane_sample<trilane_texture_value<T>::channels, Axes, false>(
        trilane_texture_of(handle), x, y, z, 0));
}

template <class T, int Axes>
TRILANE_D T trilane_sampled_layer(unsigned long long handle, float x, float y, int layer) {
    const trilane_texture* t = trilane_texture_of(handle);
    return trilane_texture_value<T>::of(trilane_sample<trilane_texture_value<T>::channels, Axes, true>(
        t, x, y, 0.0f, trilane_layer(t, layer, 0, 1)));
}

// The face that a direction meets, and where: the guide's table.
template <class T>
TRILANE_D T trilane_sampled_cube(unsigned long long handle, float x, float y, float z, int cube) {
    TRILANE_EXACT
    const trilane_texture* t = trilane_texture_of(handle);
    float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
    int face;
    float m, s, v;
    if (ax >= ay && ax >= az) {
        face = x >= 0.0f ? 0 : 1;
        m = ax, s = x >= 0.0f ? -z : z, v = -y;
    } else if (ay >= az) {
        face = y >= 0.0f ? 2 : 3;
        m = ay, s = x, v = y >= 0.0f ? z : -z;
    } else {
        face = z >= 0.0f ? 4 : 5;
        m = az, s = z >= 0.0f ? x : -x, v = -y;
    }
    s = (s / m + 1.0f) * 0.5f;
    v = (v / m + 1.0f) * 0.5f;
    float scale = t->normalized != 0 ? 1.0f : (float)t->width;
    return trilane_texture_value<T>::of(trilane_sample<trilane_texture_value<T>::channels, 2, true>(
        t, s * scale, v * scale, 0.0f, trilane_layer(t, cube, face, 6)));
}

// --- the functions; each also in the form that writes through a pointer

#define TRILANE_TEXTURE_FUNCTION(name, parameters, arguments, ...)                 \
    template <class T> TRILANE_D T name(cudaTextureObject_t texture, parameters) { \
        return __VA_ARGS__;                                                        \
    }                                                                              \
    template <class T>                                                             \
    TRILANE_D void name(T* value, cudaTextureObject_t texture, parameters) {       \
        *value = name<T>(texture, arguments);                                      \
    }
#define TRILANE_LIST(...) __VA_ARGS__

TRILANE_TEXTURE_FUNCTION(tex1D, float x, x, trilane_sampled<T, 1>(texture, x, 0.0f, 0.0f))
TRILANE_TEXTURE_FUNCTION(tex2D, TRILANE_LIST(float x, float y), TRILANE_LIST(x, y),
                         trilane_sampled<T, 2>(texture, x, y, 0.0f))
TRILANE_TEXTURE_FUNCTION(tex3D, TRILANE_LIST(float x, float y, float z), TRILANE_LIST(x, y, z),
                         trilane_sampled<T, 3>(texture, x, y, z))
TRILANE_TEXTURE_FUNCTION(tex1DLayered, TRILANE_LIST(float x, int layer), TRILANE_LIST(x, layer),
                         trilane_sampled_layer<T, 1>(texture, x, 0.0f, layer))
TRILANE_TEXTURE_FUNCTION(tex2DLayered, TRILANE_LIST(float x, float y, int layer),
                         TRILANE_LIST(x, y, layer),
                         trilane_sampled_layer<T, 2>(texture, x, y, layer))
TRILANE_TEXTURE_FUNCTION(texCubemap, TRILANE_LIST(float x, float y, float z),
                         TRILANE_LIST(x, y, z), trilane_sampled_cube<T>(texture, x, y, z, 0))
TRILANE_TEXTURE_FUNCTION(texCubemapLayered, TRILANE_LIST(float x, float y, float z, int layer),
                         TRILANE_LIST(x, y, z, layer),
                         trilane_sampled_cube<T>(texture, x, y, z, layer))

// There are no mipmaps: every level of detail is the array itself.
TRILANE_TEXTURE_FUNCTION(tex1DLod, TRILANE_LIST(float x, float), TRILANE_LIST(x, 0.0f),
                         tex1D<T>(texture, x))
TRILANE_TEXTURE_FUNCTION(tex2DLod, TRILANE_LIST(float x, float y, float),
                         TRILANE_LIST(x, y, 0.0f), tex2D<T>(texture, x, y))
TRILANE_TEXTURE_FUNCTION(tex3DLod, TRILANE_LIST(float x, float y, float z, float),
                         TRILANE_LIST(x, y, z, 0.0f), tex3D<T>(texture, x, y, z))
TRILANE_TEXTURE_FUNCTION(tex1DLayeredLod, TRILANE_LIST(float x, int layer, float),
                         TRILANE_LIST(x, layer, 0.0f), tex1DLayered<T>(texture, x, layer))
TRILANE_TEXTURE_FUNCTION(tex2DLayeredLod, TRILANE_LIST(float x, float y, int layer, float),
                         TRILANE_LIST(x, y, layer, 0.0f), tex2DLayered<T>(texture, x, y, layer))
TRILANE_TEXTURE_FUNCTION(texCubemapLod, TRILANE_LIST(float x, float y, float z, float),
                         TRILANE_LIST(x, y, z, 0.0f), texCubemap<T>(texture, x, y, z))
TRILANE_TEXTURE_FUNCTION(tex1DGrad, TRILANE_LIST(float x, float dx, float dy),
                         TRILANE_LIST(x, dx, dy), tex1D<T>(texture, x))
TRILANE_TEXTURE_FUNCTION(tex2DGrad, TRILANE_LIST(float x, float y, float2 dx, float2 dy),
                         TRILANE_LIST(x, y, dx, dy), tex2D<T>(texture, x, y))
TRILANE_TEXTURE_FUNCTION(tex3DGrad, TRILANE_LIST(float x, float y, float z, float4 dx, float4 dy),
                         TRILANE_LIST(x, y, z, dx, dy), tex3D<T>(texture, x, y, z))

// By index, from linear memory: 0 outside.
template <class T> TRILANE_D T tex1Dfetch(cudaTextureObject_t texture, int x) {
    const trilane_texture* t = trilane_texture_of(texture);
    trilane_words words = {0, 0, 0, 0};
    if (x >= 0 && x < t->width)
        words = trilane_element<trilane_texture_value<T>::channels>(t, x, 0, 0);
    return trilane_texture_value<T>::of(words);
}
template <class T> TRILANE_D void tex1Dfetch(T* value, cudaTextureObject_t texture, int x) {
    *value = tex1Dfetch<T>(texture, x);
}

// One channel of the four elements that a linear filter would take, counter-clockwise from the one
// of the lower left.
template <class T>
TRILANE_D T tex2Dgather(cudaTextureObject_t texture, float x, float y, int channel = 0) {
    const trilane_texture* t = trilane_texture_of(texture);
    trilane_pair i = trilane_pair_of(t, trilane_place(t, x, t->width, 0), t->width, 0);
    trilane_pair j = trilane_pair_of(t, trilane_place(t, y, t->height, 1), t->height, 1);
    trilane_words all = {0, 0, 0, 0};
#pragma clang loop unroll(disable)
    for (int corner = 0; corner < 4; ++corner) {
        int column = corner == 1 || corner == 2 ? i.second : i.first;
        int row = corner < 2 ? j.second : j.first;
        trilane_words one = trilane_texel<4>(t, column, row, 0);
        unsigned word = channel == 0 ? one.x : channel == 1 ? one.y : channel == 2 ? one.z : one.w;
        all.x = corner == 0 ? word : all.x;
        all.y = corner == 1 ? word : all.y;
        all.z = corner == 2 ? word : all.z;
        all.w = corner == 3 ? word : all.w;
    }
    return trilane_texture_value<T>::of(all);
}
template <class T>
TRILANE_D void tex2Dgather(T* value, cudaTextureObject_t texture, float x, float y,
                           int channel = 0) {
    *value = tex2Dgather<T>(texture, x, y, channel);
}

#undef TRILANE_LIST
#undef TRILANE_TEXTURE_FUNCTION
