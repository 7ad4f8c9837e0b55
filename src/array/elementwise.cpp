// From operands to a launch of an element-wise kernel.
#include "array/elementwise.h"

#include <fmt/format.h>

#include <atomic>
#include <bit>

#include "array/peer.h"
#include "array/promotion.h"
#include "array/transpose.h"
#include "core/env.h"
#include "core/error.h"
#include "core/peer.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

constexpr int64_t kNarrowLimit = int64_t{1} << 31;
constexpr int64_t kMaxGrid = 2147483647;
constexpr int64_t kShortRow = 32;  // rows below this are not worth a block of their own

// Of the packed form, by measurement: bytes of the widest operand that one access moves, elements
// per access at most, packs in flight, and elements per thread at most.
constexpr int kPackBytes = 16;
constexpr int kMaxPack = 8;
constexpr int kUnroll = 2;
constexpr int kMaxPerThread = 8;

struct Call {
    const LoopKernel* kernel;
    std::span<const LoopOperand> operands;
    Access access[kMaxOperands];
    core::DevicePtr address[kMaxOperands];
    LoopLayout layout;
    Mapping mapping = Mapping::Flat;
    bool wide = false;
    int pack = 0, unroll = 1;  // as in ElementwiseText
};

bool is_pointer(Access access) { return access != Access::Scalar && !is_alias(access); }

DType stored_type(const LoopOperand& operand) {
    return operand.array ? operand.array->dtype() : operand.computed;
}

KernelKey make_key(const Call& call) {
    KernelKey key;
    key.add(call.kernel->id);
    key.add(
        static_cast<uint64_t>(call.layout.rank) | static_cast<uint64_t>(call.mapping) << 8 |
        static_cast<uint64_t>(call.wide) << 16 | static_cast<uint64_t>(call.kernel->masked) << 17 |
        static_cast<uint64_t>(call.pack) << 18 | static_cast<uint64_t>(call.operands.size()) << 24);
    uint64_t word = 0;
    for (size_t k = 0; k < call.operands.size(); ++k) {
        word |= (static_cast<uint64_t>(stored_type(call.operands[k])) |
                 static_cast<uint64_t>(call.access[k]) << 4)
                << (k % 8 * 8);
        if (k % 8 == 7 || k + 1 == call.operands.size()) {
            key.add(word);
            word = 0;
        }
    }
    return key;
}

KernelSource make_source(const Call& call) {
    ElementwiseText text;
    text.rank = call.layout.rank;
    text.mapping = call.mapping;
    text.wide = call.wide;
    text.masked = call.kernel->masked;
    text.pack = call.pack;
    text.unroll = call.unroll;
    int inputs = 0, outputs = 0, last_input = -1;
    for (size_t k = 0; k < call.operands.size(); ++k) {
        const LoopOperand& operand = call.operands[k];
        KernelOperand row;
        row.name = operand.output ? fmt::format("out{}", outputs++) : fmt::format("in{}", inputs++);
        row.stored = device_type(stored_type(operand));
        row.computed = compute_type(operand.computed);
        row.access = call.access[k];
        row.output = operand.output;
        if (!operand.output) last_input = static_cast<int>(k);
        text.operands.push_back(row);
    }
    if (text.masked) text.operands[last_input].name = "mask";
    text.preamble = fmt::format("typedef {} T;\n", text.operands[0].computed);
    call.kernel->describe(call.kernel->context, text);
    KernelSource source;
    source.entry = text.entry;
    source.text = elementwise_text(text);
    if (call.kernel->by_address) source.lanes = 1;
    return source;
}

// Settles the packed form, where everything is aligned for it. The cpu device's vectoriser wants
// one element per thread.
void choose_pack(Call& call) {
    if (call.kernel->masked || call.kernel->by_address || call.mapping == Mapping::Nested) return;
    size_t widest = 1;
    for (size_t k = 0; k < call.operands.size(); ++k) {
        if (call.access[k] == Access::Strided) return;
        if (call.access[k] == Access::Unit)
            widest = std::max(widest, call.operands[k].array->itemsize());
    }
    int pack = std::clamp(kPackBytes / static_cast<int>(widest), 1, kMaxPack);
    int64_t mask = 0;  // bits that must not be there
    for (size_t k = 0; k < call.operands.size(); ++k) {
        if (call.access[k] != Access::Unit) continue;
        int64_t bits = static_cast<int64_t>(call.address[k]);
        for (int d = 0; d + 1 < call.layout.rank; ++d) bits |= call.layout.strides[k][d];
        mask |= bits & (pack * static_cast<int64_t>(call.operands[k].array->itemsize()) - 1);
    }
    if (call.mapping == Mapping::Rows) mask |= call.layout.shape.back() & (pack - 1);
    if (mask) return;
    call.pack = pack;
    call.unroll = std::clamp(kMaxPerThread / pack, 1, kUnroll);
}

// Flat loops: no axis arithmetic at all.
struct Geometry {
    core::Dim3 grid, block;
    int64_t chunks = 0;
};

Geometry choose_geometry(Call& call, const core::Context& context) {
    Geometry geometry;
    const LoopLayout& layout = call.layout;
    call.wide = layout.count >= kNarrowLimit;
    if (layout.rank >= 2) {
        int64_t row = layout.shape.back();
        call.mapping = row >= kShortRow ? Mapping::Rows : Mapping::Nested;
    }
    if (gpu_forms(context)) choose_pack(call);
    int64_t each = call.pack ? call.pack * call.unroll : 1;
    int64_t line = call.mapping == Mapping::Rows ? layout.shape.back() : layout.count;
    uint32_t block = flat_block(context, (line + each - 1) / each);
    int64_t blocks = (line + block * each - 1) / (block * each);
    if (call.mapping == Mapping::Rows) {
        geometry.chunks = blocks;
        blocks = layout.count / line * geometry.chunks;
        if (blocks > kMaxGrid) {
            call.mapping = Mapping::Nested;
            call.pack = 0;
            block = flat_block(context, layout.count);
            blocks = (layout.count + block - 1) / block;
        }
    }
    if (blocks > kMaxGrid)
        throw_error(ErrorKind::NotSupported, "elementwise: more than 2^31 blocks: {} elements",
                    layout.count);
    geometry.grid.x = static_cast<uint32_t>(blocks);
    geometry.block.x = block;
    return geometry;
}

void launch_call(Call& call, const core::ContextPtr& context) {
    Geometry geometry = choose_geometry(call, *context);
    core::Function& function =
        find_kernel(context, make_key(call), [&call] { return make_source(call); });
    constexpr int kMaxArguments = 512;
    int64_t values[kMaxArguments];
    alignas(16) char scalars[kMaxOperands][16];
    void* arguments[kMaxArguments];
    int count = 0;
    auto add = [&](int64_t value) {
        TRILANE_CHECK(count < kMaxArguments, "elementwise: too many kernel arguments");
        values[count] = value;
        arguments[count] = &values[count];
        ++count;
    };
    const LoopLayout& layout = call.layout;
    for (size_t k = 0; k < call.operands.size(); ++k) {
        const LoopOperand& operand = call.operands[k];
        if (call.access[k] == Access::Scalar) {
            DType value_type = operand.computed;
            // float16 arithmetic is float arithmetic: the value is rounded to float16 first.
            if (value_type == DType::Float16 || value_type == DType::BFloat16) {
                store_scalar(*operand.scalar, value_type, scalars[k]);
                Scalar rounded = load_scalar(scalars[k], value_type);
                store_scalar(rounded, DType::Float32, scalars[k]);
            } else {
                store_scalar(*operand.scalar, value_type, scalars[k]);
            }
            arguments[count++] = scalars[k];
        } else if (is_pointer(call.access[k])) {
            add(static_cast<int64_t>(call.address[k]));
        }
    }
    add(layout.count);
    if (call.mapping != Mapping::Flat) {
        for (int d = call.mapping == Mapping::Rows ? 0 : 1; d < layout.rank; ++d)
            add(layout.shape[d]);
        if (call.mapping == Mapping::Rows) add(geometry.chunks);
    }
    for (size_t k = 0; k < call.operands.size(); ++k) {
        if (!is_pointer(call.access[k])) continue;
        for (int d = 0; d + 1 < layout.rank; ++d) add(layout.strides[k][d]);
        if (call.access[k] == Access::Strided && layout.rank > 0)
            add(layout.strides[k][layout.rank - 1]);
    }
    launch_kernel(function, geometry.grid, geometry.block, arguments, static_cast<size_t>(count));
}

// All arrays have the loop's shape and are C-contiguous: nothing to work out.
bool all_flat(const Shape& shape, std::span<const LoopOperand> operands) {
    for (const LoopOperand& operand : operands)
        if (operand.array && !(operand.array->c_contiguous() && operand.array->shape() == shape))
            return false;
    return true;
}

void settle_layout(Call& call, const Shape& shape) {
    Shape full[kMaxOperands];
    const Shape* pointers[kMaxOperands];
    int place[kMaxOperands];
    size_t arrays = 0;
    // Outputs first: their order in memory decides.
    for (int pass = 0; pass < 2; ++pass)
        for (size_t k = 0; k < call.operands.size(); ++k) {
            const LoopOperand& operand = call.operands[k];
            if (!operand.array || operand.output != (pass == 0)) continue;
            full[arrays] =
                broadcast_strides(operand.array->shape(), operand.array->strides(), shape);
            pointers[arrays] = &full[arrays];
            place[arrays++] = static_cast<int>(k);
        }
    LoopLayout layout;
    make_layout(shape, {pointers, arrays}, call.kernel->keep_order, layout);
    call.layout.rank = layout.rank;
    call.layout.count = layout.count;
    call.layout.shape = layout.shape;
    for (size_t a = 0; a < arrays; ++a) {
        int k = place[a];
        call.layout.strides[k] = std::move(layout.strides[a]);
        if (is_alias(call.access[k])) continue;
        int64_t inner = layout.rank ? call.layout.strides[k].back() : 0;
        int64_t itemsize = static_cast<int64_t>(call.operands[k].array->itemsize());
        call.access[k] = inner == 0          ? Access::Zero
                         : inner == itemsize ? Access::Unit
                                             : Access::Strided;
    }
}

// Outputs that are an input, element for element, share its pointer; inputs that an output overlaps
// otherwise are replaced by copies (kept alive in `copies`).
void settle_aliases(Call& call, std::vector<LoopOperand>& replaced, std::vector<Array>& copies) {
    size_t count = call.operands.size();
    for (size_t o = 0; o < count; ++o) {
        if (!call.operands[o].output) continue;
        const Array& out = *call.operands[o].array;
        bool aliased = false;
        for (size_t k = 0; k < count; ++k) {
            const LoopOperand& input = call.operands[k];
            if (input.output || !input.array || !may_share_memory(out, *input.array)) continue;
            bool same = k < 8 && !aliased && input.array->dtype() == out.dtype() &&
                        same_elements(out, *input.array);
            if (same) {
                call.access[o] = alias_of(static_cast<int>(k));
                aliased = true;
                continue;
            }
            if (replaced.empty()) {
                replaced.assign(call.operands.begin(), call.operands.end());
                copies.reserve(count);
                call.operands = replaced;
            }
            copies.push_back(copy(*input.array, 'C'));
            replaced[k].array = &copies.back();
        }
    }
}

}  // namespace

namespace {

// -1: by the device; what the environment says is taken at the first look.
std::atomic<int>& forced_forms() {
    static std::atomic<int> forced{
        core::env_string("TRILANE_GPU_FORMS") ? core::env_flag("TRILANE_GPU_FORMS") : -1};
    return forced;
}

}  // namespace

bool gpu_forms(const core::Context& context) {
    int forced = forced_forms().load(std::memory_order_relaxed);
    if (forced >= 0) return forced;
    return const_cast<core::Context&>(context).properties().type == core::DeviceType::Cuda;
}

void force_gpu_forms(std::optional<bool> force) { forced_forms() = force ? *force : -1; }

uint32_t flat_block(const core::Context& context, int64_t n) {
    bool gpu = gpu_forms(context);
    int64_t limit = gpu ? 256 : 1024;
    if (n >= limit) return static_cast<uint32_t>(limit);
    return static_cast<uint32_t>(gpu ? (n + 31) / 32 * 32 : n);
}

namespace {

PeerNotice peer_notice;

// Memory of another device: kernels reach it where the two devices can, slowly.
void use_elsewhere(core::Buffer& buffer, const core::StreamPtr& stream) {
    const int home = buffer.context()->index(), here = stream->context()->index();
    if (!core::reach(stream->context(), buffer.context()))
        throw_error(ErrorKind::InvalidArgument,
                    "The device where the array resides ({}) is different from the current device "
                    "({}). Peer access is unavailable between these devices: copy the array, or "
                    "make its device current",
                    home, here);
    core::use_on(buffer, stream, "array");
    if (peer_notice) peer_notice(home, here);
}

}  // namespace

void set_peer_notice(PeerNotice notice) { peer_notice = notice; }

const core::ContextPtr& require_here(const core::StreamPtr& stream, const Array& array) {
    const core::BufferPtr& buffer = array.buffer();
    if (buffer->context() != stream->context() && core::is_located(*buffer)) [[unlikely]]
        use_elsewhere(*buffer, stream);
    else if ((buffer->stream() && buffer->stream() != stream) ||
             stream->context()->captures().any()) [[unlikely]]
        buffer->record_use(stream);
    return stream->context();
}

void run_elementwise(const LoopKernel& kernel, const Shape& shape,
                     std::span<const LoopOperand> operands) {
    TRILANE_CHECK(operands.size() <= kMaxOperands, "elementwise: {} operands", operands.size());
    Call call;
    call.kernel = &kernel;
    call.operands = operands;
    core::StreamPtr stream = core::current_stream();
    for (size_t k = 0; k < operands.size(); ++k) {
        call.access[k] = operands[k].array ? Access::Unit : Access::Scalar;
        if (operands[k].array) require_here(stream, *operands[k].array);
    }
    std::vector<LoopOperand> replaced;
    std::vector<Array> copies;
    if (kernel.protect_inputs) settle_aliases(call, replaced, copies);
    if (all_flat(shape, call.operands)) {
        call.layout.count = element_count(shape);
        call.layout.rank = 1;
    } else {
        settle_layout(call, shape);
    }
    if (call.layout.count == 0) return;
    for (size_t k = 0; k < call.operands.size(); ++k)
        if (call.operands[k].array) call.address[k] = call.operands[k].array->data();
    launch_call(call, stream->context());
}

// --- copies

namespace {

void describe_copy(const void*, ElementwiseText& text) {
    text.entry = "trilane_copy";
    text.body = "out0 = in0";
    // A copy of float16 to float16 moves bits.
    if (text.operands[0].stored == text.operands[1].stored)
        text.operands[0].computed = text.operands[1].computed = text.operands[0].stored;
    else
        text.operands[0].computed = text.operands[1].computed = text.operands[1].stored;
}

constexpr uint64_t kCopyId = uint64_t{1} << 31;

LoopKernel copy_kernel() {
    LoopKernel kernel;
    kernel.id = kCopyId;
    kernel.describe = describe_copy;
    return kernel;
}

}  // namespace

Array as_bits(const Array& a) {
    switch (a.itemsize()) {
        case 1:
            return a.with_dtype(DType::UInt8, 1);
        case 2:
            return a.with_dtype(DType::UInt16, 2);
        case 4:
            return a.with_dtype(DType::UInt32, 4);
        case 8:
            return a.with_dtype(DType::UInt64, 8);
        default:
            break;
    }
    Shape shape = a.shape(), strides = a.strides();
    shape.push_back(static_cast<int64_t>(a.itemsize()));
    strides.push_back(1);
    return Array(a.storage(), a.offset(), shape, strides, DType::UInt8, 1);
}

void copy_into(const Array& dst, const Array& src) {
    if (dst.dtype() == DType::Void || src.dtype() == DType::Void) {
        if (dst.dtype() != src.dtype() || dst.itemsize() != src.itemsize())
            throw_error(ErrorKind::TypeMismatch,
                        "copy: cannot convert between structured and plain dtypes");
        Array from = src;
        if (!(src.shape() == dst.shape()))
            from = src.with_layout(src.offset(), dst.shape(),
                                   broadcast_strides(src.shape(), src.strides(), dst.shape()));
        return copy_into(as_bits(dst), as_bits(from));
    }
    if (dst.size() == 0) {
        broadcast_strides(src.shape(), src.strides(), dst.shape());
        return;
    }
    bool plain =
        dst.dtype() == src.dtype() && dst.shape() == src.shape() &&
        ((dst.c_contiguous() && src.c_contiguous()) || (dst.f_contiguous() && src.f_contiguous()));
    if (plain && !may_share_memory(dst, src)) {
        // Of another device if neither is here: a copy on that device, or between the two.
        core::StreamPtr stream = core::current_stream();
        const Array& known = core::is_located(*dst.buffer()) ? dst : src;
        const Array& other = core::is_located(*src.buffer()) ? src : known;
        if (known.context() != stream->context() && other.context() != stream->context())
            stream = core::current_stream(known.context());
        core::copy_on_device(*dst.buffer(), static_cast<size_t>(dst.offset()), *src.buffer(),
                             static_cast<size_t>(src.offset()), dst.nbytes(), stream);
        return;
    }
    if (same_elements(dst, src) && dst.dtype() == src.dtype()) return;
    if (copy_transposed(dst, src)) return;
    LoopOperand operands[2];
    operands[0] = {&src, nullptr, src.dtype(), false};
    operands[1] = {&dst, nullptr, dst.dtype(), true};
    run_elementwise(copy_kernel(), dst.shape(), operands);
}

void copy_into(const Array& dst, const Scalar& src) {
    LoopOperand operands[2];
    operands[0] = {nullptr, &src, dst.dtype(), false};
    operands[1] = {&dst, nullptr, dst.dtype(), true};
    LoopKernel kernel = copy_kernel();
    kernel.id = kCopyId + 1;
    kernel.describe = [](const void*, ElementwiseText& text) {
        text.entry = "trilane_fill";
        text.body = "out0 = in0";
    };
    run_elementwise(kernel, dst.shape(), operands);
}

namespace {

Array empty_like_order(const Array& a, DType dtype, size_t itemsize, char order) {
    int64_t step = static_cast<int64_t>(itemsize);
    if (order == 'A') order = a.f_contiguous() && !a.c_contiguous() ? 'F' : 'C';
    if (order == 'K' && a.c_contiguous()) order = 'C';
    Shape strides;
    if (order == 'K') {
        const Shape* one[] = {&a.strides()};
        strides = keep_order_strides(a.shape(), one, step);
    } else {
        strides = order == 'F' ? f_strides(a.shape(), step) : c_strides(a.shape(), step);
    }
    if (dtype != DType::Void) return Array::empty_strided(a.shape(), strides, dtype, itemsize);
    Array result = Array::empty_void(a.shape(), itemsize, a.tag());
    return result.with_layout(0, a.shape(), strides);
}

}  // namespace

// Packed where it is, then copied as it lies: kernels do not read over the link.
static Array copy_from_peer(const Array& a, char order) {
    Array packed = a;
    const bool fortran = order == 'F' || (order != 'C' && a.f_contiguous() && !a.c_contiguous());
    if (!(fortran ? a.f_contiguous() : a.c_contiguous())) {
        const core::DeviceScope there(a.context());
        packed = copy(a, order);
    }
    Array result = packed.dtype() == DType::Void
                       ? Array::empty_void(packed.shape(), packed.itemsize(), packed.tag())
                             .with_layout(0, packed.shape(), packed.strides())
                       : Array::empty_strided(packed.shape(), packed.strides(), packed.dtype(),
                                              packed.itemsize());
    copy_into(result, packed);
    return result;
}

bool is_elsewhere(const Array& a) {
    return a.context()->index() != core::current_device_index() && core::is_located(*a.buffer());
}

Array copy(const Array& a, char order) {
    if (is_elsewhere(a) && a.size() != 0) [[unlikely]]
        return copy_from_peer(a, order);
    Array result = empty_like_order(a, a.dtype(), a.itemsize(), order);
    copy_into(result, a);
    return result;
}

Array astype(const Array& a, DType dtype, char order) {
    Array result = empty_like_order(a, dtype, core::size_of(dtype), order);
    copy_into(result, a);
    return result;
}

Array contiguous(const Array& a) { return a.c_contiguous() ? a : copy(a, 'C'); }

Array full(const Shape& shape, DType dtype, const Scalar& value, char order) {
    Array result = Array::empty(shape, dtype, order);
    copy_into(result, value);
    return result;
}

}  // namespace trilane::array
