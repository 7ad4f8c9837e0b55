// Finds the two axes and writes the kernel.
#include "array/transpose.h"

#include <fmt/format.h>

#include "array/arguments.h"
#include "array/elementwise.h"
#include "array/layout.h"
#include "array/promotion.h"

namespace trilane::array {

namespace {

constexpr int64_t kShortest = 16;  // axes below this are not worth a tile
constexpr int kMaxRank = 6;
constexpr int64_t kThreads = 256;
constexpr uint64_t kTransposeId = (uint64_t{1} << 31) + 12288;

// Elements of a tile's side.
int tile_side(size_t itemsize) { return itemsize <= 4 ? 64 : 32; }

// The source runs along axis "across", the destination along axis "down".
std::string transpose_text(core::DType from, core::DType to, int rank) {
    std::string text = fmt::format(
        "#include \"trilane/array_ops.h\"\n"
        "typedef {} I;\ntypedef {} O;\n#define SIDE {}\n"
        "extern \"C\" __global__ void trilane_transpose(const char* __restrict__ in, "
        "char* __restrict__ out, const long long across, const long long down, "
        "const long long in_step, const long long out_step, const long long across_tiles, "
        "const long long down_tiles",
        device_type(from), device_type(to),
        tile_side(std::max(core::size_of(from), core::size_of(to))));
    std::string outer;
    for (int d = 0; d < rank - 2; ++d) {
        text +=
            fmt::format(", const long long e{0}, const long long i{0}, const long long o{0}", d);
        outer += fmt::format(
            "    in += rest % e{0} * i{0}; out += rest % e{0} * o{0}; rest /= e{0};\n", d);
    }
    return text +
           ") {\n"
           "    __shared__ I tile[SIDE][SIDE + 1];\n"
           "    long long rest = blockIdx.x;\n"
           "    const long long down0 = rest % down_tiles * SIDE; rest /= down_tiles;\n"
           "    const long long across0 = rest % across_tiles * SIDE; rest /= across_tiles;\n" +
           outer +
           "    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"
           "    #pragma unroll\n"
           "    for (int y = 0; y < SIDE; y += 8)\n"
           "        #pragma unroll\n"
           "        for (int x = 0; x < SIDE; x += 32) {\n"
           "            long long a = across0 + x + lane, d = down0 + y + warp;\n"
           "            a = a < across ? a : across - 1; d = d < down ? d : down - 1;\n"
           "            tile[y + warp][x + lane] = *(const I*)(in + d * in_step + a * "
           "(long long)sizeof(I));\n"
           "        }\n"
           "    __syncthreads();\n"
           "    #pragma unroll\n"
           "    for (int y = 0; y < SIDE; y += 8)\n"
           "        #pragma unroll\n"
           "        for (int x = 0; x < SIDE; x += 32) {\n"
           "            const long long a = across0 + y + warp, d = down0 + x + lane;\n"
           "            if (a < across && d < down)\n"
           "                *(O*)(out + a * out_step + d * (long long)sizeof(O)) =\n"
           "                    trilane::cast<O>(tile[x + lane][y + warp]);\n"
           "        }\n"
           "}\n";
}

}  // namespace

bool copy_transposed(const Array& dst, const Array& src) {
    if (dst.ndim() < 2) return false;
    core::StreamPtr stream = core::current_stream();
    if (!gpu_forms(*stream->context()) || may_share_memory(dst, src)) return false;
    Shape from = broadcast_strides(src.shape(), src.strides(), dst.shape());
    const Shape* strides[] = {&dst.strides(), &from};
    LoopLayout layout;
    make_layout(dst.shape(), strides, false, layout);
    int rank = layout.rank, down = rank - 1, across = -1;
    if (rank < 2 || rank > kMaxRank) return false;
    const Shape &out = layout.strides[0], &in = layout.strides[1];
    int64_t out_item = static_cast<int64_t>(dst.itemsize());
    int64_t in_item = static_cast<int64_t>(src.itemsize());
    if (out[down] != out_item || in[down] == in_item || in[down] == 0) return false;
    for (int d = 0; d < down; ++d)
        if (in[d] == in_item && layout.shape[d] >= kShortest) across = d;
    if (across < 0 || layout.shape[down] < kShortest) return false;
    int64_t side = tile_side(static_cast<size_t>(std::max(in_item, out_item)));
    int64_t across_tiles = (layout.shape[across] + side - 1) / side;
    int64_t down_tiles = (layout.shape[down] + side - 1) / side;
    const core::ContextPtr& context = require_here(stream, src);
    require_here(stream, dst);
    KernelArguments arguments;
    arguments.add(src);
    arguments.add(dst);
    for (int64_t value : {layout.shape[across], layout.shape[down], in[down], out[across],
                          across_tiles, down_tiles})
        arguments.add(value);
    int64_t blocks = across_tiles * down_tiles;
    for (int d = down - 1; d >= 0; --d) {
        if (d == across) continue;
        arguments.add(layout.shape[d]);
        arguments.add(in[d]);
        arguments.add(out[d]);
        blocks *= layout.shape[d];
    }
    KernelKey key;
    key.add(kTransposeId + static_cast<uint64_t>(rank));
    key.add(static_cast<uint64_t>(src.dtype()) << 8 | static_cast<uint64_t>(dst.dtype()));
    core::Function& function = find_kernel(context, key, [&] {
        return KernelSource{"trilane_transpose", transpose_text(src.dtype(), dst.dtype(), rank)};
    });
    launch_threads(function, blocks * kThreads, kThreads, arguments);
    return true;
}

}  // namespace trilane::array
