// A kernel around random statements: parameters, indices, guards, device functions.
#include "devices/cpu/testing/lane_generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "devices/cpu/testing/lane_statements.h"

namespace trilane::cpu::testing {

using fmt::format;
using std::string;
using Names = std::vector<string>;

string common_text() {
    return R"(struct S { int a; float b; short c; signed char d[2]; };
__device__ int bits_of(float x) { return x == x ? __float_as_int(x) : 1; }
__device__ int warp_lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31;
}
template <typename T> __device__ T of_lane(unsigned m, T x, T y, int source) {
    return (m >> source) & 1 ? y : x;
}
template <typename T> __device__ T at_lane(unsigned m, T x, int from, int width) {
    T y = __shfl_sync(m, x, from, width);
    return of_lane(m, x, y, (warp_lane() & ~(width - 1)) | (from & (width - 1)));
}
template <typename T> __device__ T lane_up(unsigned m, T x, int by, int width) {
    T y = __shfl_up_sync(m, x, by, width);
    int source = (warp_lane() & (width - 1)) >= by ? warp_lane() - by : warp_lane();
    return of_lane(m, x, y, source);
}
template <typename T> __device__ T lane_down(unsigned m, T x, int by, int width) {
    T y = __shfl_down_sync(m, x, by, width);
    int source = (warp_lane() & (width - 1)) + by < width ? warp_lane() + by : warp_lane();
    return of_lane(m, x, y, source);
}
template <typename T> __device__ T lane_xor(unsigned m, T x, int by, int width) {
    T y = __shfl_xor_sync(m, x, by, width);
    int source = warp_lane() ^ by;
    if (source >= (warp_lane() & ~(width - 1)) + width) source = warp_lane();
    return of_lane(m, x, y, source);
}
)";
}

namespace {

const char* const kFunctions = R"(__device__ int branchy@(int a, int b) {
    if (a > b) return (a ^ b) >> 1;
    for (int k = 0; k < (b & 3); ++k) { a = (int)((unsigned)a * 5u + k); if (a & 8) return a; }
    return a & b;
}
__device__ __noinline__ int outlined@(int a, int b, float f) {
    int sum = a;
    while (b & 7) { sum = (int)((unsigned)sum + b); --b; if (f > 2.0f && (sum & 1)) break; }
    return f < 0.0f ? ~sum : sum;
}
__device__ int recursive@(int a, int n) {
    if (n <= 0) return a ^ 5;
    return (int)((unsigned)recursive@((int)(a * 3u), n - 1 - (a & 1)) + n);
}
__device__ int tree@(int a, int n) {
    return n <= 0 ? a : (int)((unsigned)tree@(a >> 1, n - 1) * 3u + tree@(a ^ n, n - 2));
}
__device__ __noinline__ int through@(const int* p, int k) { return p[k & 7] ^ p[(k >> 3) & 7]; }
typedef int (*operation@)(int, int);
__device__ int sum@(int a, int b) { return (int)((unsigned)a + b); }
__device__ int worse@(int a, int b) { return a < b ? a : b ^ (int)threadIdx.x; }
__device__ operation@ table@[2] = {sum@, worse@};
__device__ __noinline__ int indexed@(int a) { return a & 1 ? a ^ (int)threadIdx.x : (int)blockDim.x; }
__device__ S made@(int a, int b) {
    S s = {a, (float)b * 0.5f, (short)b, {(signed char)a, 3}};
    if (a & 1) s.d[b & 1] = 7;
    return s;
}
)";

const char* const kParameters =
    "const signed char* a8, const unsigned short* a16, const int* a32, const int* b32, const long "
    "long* a64, const float* af, const float* bf, const double* ad, const S* as, const float4* a4, "
    "const int2* a2, const int* perm, signed char* o8, unsigned short* o16, int* o32, unsigned* "
    "p32, long long* o64, float* of, double* od, S* os, float4* o4, int2* o2, int* acc, unsigned "
    "long long* acc64, int* flags, int N, int n, int trips, int width, int height";

Piece line(string text, bool fixed = false) { return {std::move(text), {}, "", fixed}; }

class Generator {
  public:
    explicit Generator(uint32_t seed) : random_(seed), has_(random_features(random_)) {}

    GeneratedKernel run() {
        choose_shape();
        Statements statements(random_, has_, kernel_.block);
        Place place;
        place.present = Present::Block;
        kernel_.root.close = "}\n";
        if (has_.calls || has_.structs) kernel_.root.body.push_back(line(kFunctions, true));
        kernel_.root.body.push_back(
            line(format("extern \"C\" __global__ void @({}) {{\n", kParameters), true));
        indices();
        variables();
        if (has_.shared) shared();
        guarded(statements, place);
        return std::move(kernel_);
    }

  private:
    int size() const { return int(kernel_.block.x * kernel_.block.y * kernel_.block.z); }
    std::vector<Piece>& body() { return kernel_.root.body; }

    void choose_shape() {
        using core::Dim3;
        static const std::vector<Dim3> narrow{{1},  {2},   {7},   {31},  {32},  {33},  {64},
                                              {96}, {100}, {128}, {256}, {250}, {512}, {1024}};
        static const std::vector<Dim3> deep{{16, 16},   {8, 8},     {7, 3},     {32, 8},
                                            {1, 33},    {5, 5, 5},  {2, 2, 2},  {4, 4, 4},
                                            {3, 1, 50}, {64, 2, 2}, {32, 4, 1}, {16, 1, 16}};
        kernel_.block = random_.chance(60) ? random_.of(narrow) : random_.of(deep);
        flat_ = random_.chance(20);
        int most = std::max(1, std::min(5, 3072 / size()));
        kernel_.grid = {uint32_t(random_.below(most) + 1), 1, 1};
        if (kernel_.block.y > 1 && kernel_.grid.x <= 2 && most >= 4)
            kernel_.grid.y = uint32_t(random_.below(2) + 1);
        if (kernel_.block.z > 1 && kernel_.grid.y == 1 && most >= 4)
            kernel_.grid.z = uint32_t(random_.below(2) + 1);
        int total = size() * int(kernel_.grid.x * kernel_.grid.y * kernel_.grid.z);
        plane_ = !flat_ && kernel_.block.y > 1 && kernel_.block.z == 1;
        kernel_.elements = has_.strided ? total + random_.below(total + 1) : total;
        kernel_.n = random_.chance(30) ? kernel_.elements : random_.below(kernel_.elements + 1);
        kernel_.trips = random_.below(5);
        kernel_.width = int(kernel_.grid.x * kernel_.block.x);
        kernel_.height = int(kernel_.grid.y * kernel_.block.y);
        if (plane_ && random_.chance(50)) {
            cut_ = true;
            kernel_.width -= random_.below(kernel_.width);
            kernel_.height -= random_.below(kernel_.height);
        }
    }

    void indices() {
        body().push_back(
            line("int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n",
                 true));
        if (kernel_.block.y == 1 && kernel_.block.z == 1 && random_.chance(70))
            body().back().open = "int t = threadIdx.x;\n";
        body().push_back(line(
            "int size = blockDim.x * blockDim.y * blockDim.z, lane = t & 31;\nint whole_block = "
            "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\nint threads = size * "
            "gridDim.x * gridDim.y * gridDim.z;\n",
            true));
        if (has_.warp)
            body().push_back(line(
                size() % 32 == 0 ? "unsigned m = 0xffffffffu;\n"
                                 : "unsigned m = size - (t & ~31) >= 32 ? 0xffffffffu : (1u << "
                                   "(size & 31)) - 1;\n",
                true));
        string text;
        if (flat_)
            text = "int i = whole_block * size + t;\n";
        else if (plane_)
            text =
                "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + "
                "threadIdx.y;\nint i = y * width + x;\n";
        else if (kernel_.block.z > 1)
            text =
                "int i = ((blockIdx.z * blockDim.z + threadIdx.z) * (gridDim.y * blockDim.y) + "
                "blockIdx.y * blockDim.y + threadIdx.y) * (gridDim.x * blockDim.x) + blockIdx.x * "
                "blockDim.x + threadIdx.x;\n";
        else if (kernel_.block.y > 1 || kernel_.grid.y > 1)
            text = "int i = whole_block * size + t;\n";
        else
            text = random_.of(Names{"int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
                                    "int i = threadIdx.x + blockDim.x * blockIdx.x;\n",
                                    "unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"});
        body().push_back(line(text, true));
    }

    void variables() {
        static const char* const texts[] = {
            "int v0 = a32[i], v1 = t, v2 = (int)(i * 3), v3 = b32[i];\n",
            "unsigned u0 = (unsigned)t * 2654435761u, u1 = blockIdx.x, u2 = (unsigned)a32[N - 1 - "
            "i], "
            "u3 = 7u;\n",
            "long long l0 = a64[i], l1 = -(long long)t;\nunsigned long long q0 = (unsigned long "
            "long)a64[i + 1], q1 = 5u;\n",
            "float f0 = af[i], f1 = (float)t;\ndouble d0 = ad[i], d1 = 0.5 * t;\n",
            "signed char c0 = a8[i]; unsigned char b0 = (unsigned char)t; short h0 = (short)v0; "
            "unsigned short k0 = a16[i];\n",
            "int w0 = n, w1 = (int)blockIdx.x;\n"};
        for (const char* text : texts) body().push_back(line(text, true));
        if (has_.arrays)
            body().push_back(
                line("int la[8]; float lf[5]; unsigned char lb[16];\nfor (int a = 0; a < "
                     "8; ++a) la[a] = v0 + a;\nfor (int a = 0; a < 5; ++a) lf[a] = "
                     "af[i + a];\nfor (int a = 0; a < 16; ++a) lb[a] = (unsigned "
                     "char)(t * 7 + a);\n",
                     true));
        if (has_.structs)
            body().push_back(
                line("S s0 = as[i]; S s1 = {v0, 1.5f, 3, {(signed char)t, 2}};\n", true));
    }

    void shared() {
        body().push_back(line(
            "__shared__ int sh[1024]; __shared__ float shf[1024]; __shared__ unsigned hist[32]; "
            "__shared__ unsigned char bytes[2048];\nfor (int s = t; s < 1024; s += size) { sh[s] "
            "= s; shf[s] = (float)s; bytes[s] = (unsigned char)s; bytes[s + 1024] = 1; }\nfor "
            "(int s = t; s < 32; s += size) hist[s] = 0;\n__syncthreads();\n",
            true));
    }

    // The statements and the stores at the end, below a guard or not.
    void guarded(Statements& statements, Place place) {
        string test = cut_ ? "x < width && y < height" : "i < n";
        int kind = cut_ ? random_.below(2) : random_.below(4);
        int count = random_.below(6) + 3;
        // Below a guard there are no barriers.
        if (has_.shared && !has_.warp && kind == 0 && random_.chance(80))
            kind = cut_ ? 1 : random_.below(2) + 1;
        if (kind == 1) {  // return
            body().push_back(line(format("if (!({})) return;\n", test), true));
            if (has_.warp) body().push_back(line("m = __ballot_sync(m, 1);\n", true));
            statements.note_return();
        }
        if (kind == 0) {
            Piece guard{format("if ({}) {{\n", test), {}, "}\n", true};
            place.present = Present::Some;
            if (has_.warp) {
                place.present = Present::Warp;
                guard.open = format(
                    "unsigned m_in = __ballot_sync(m, {0});\nif ({0}) {{ unsigned m = "
                    "m_in;\n",
                    test);
            }
            guard.body = statements.list(count, place);
            for (Piece& piece : statements.stores(place.scope))
                guard.body.push_back(std::move(piece));
            body().push_back(std::move(guard));
            return;
        }
        for (Piece& piece : statements.list(count, place)) body().push_back(std::move(piece));
        for (Piece& piece : statements.stores(place.scope)) body().push_back(std::move(piece));
    }

    RandomSource random_;
    Features has_;
    GeneratedKernel kernel_;
    bool flat_ = false, plane_ = false, cut_ = false;
};

void append(const Piece& piece, const string& name, string& text) {
    auto put = [&](const string& part) {
        for (char c : part)
            if (c == '@')
                text += name;
            else
                text += c;
    };
    put(piece.open);
    for (const Piece& inside : piece.body) append(inside, name, text);
    put(piece.close);
}

}  // namespace

GeneratedKernel generate_kernel(uint32_t seed) { return Generator(seed).run(); }

string text_of(const GeneratedKernel& kernel, const string& name) {
    string text;
    append(kernel.root, name, text);
    return text;
}

}  // namespace trilane::cpu::testing
