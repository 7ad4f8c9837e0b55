// What arrays, textures and surfaces may be, before a device is asked for them.
#include "core/texture.h"

#include "core/error.h"
#include "core/region.h"

namespace trilane::core {
namespace {

constexpr int kTextureAlignment = 14, kTexturePitchAlignment = 51;  // CUdevice_attribute

void check_format(const char* who, const ChannelFormat& format) {
    const bool is_float = format.kind == ChannelKind::Float;
    if (format.channels != 1 && format.channels != 2 && format.channels != 4)
        throw_error(ErrorKind::InvalidArgument, "{}: channels: got {}, expected 1, 2 or 4", who,
                    format.channels);
    if (format.bits == 16 || format.bits == 32 || (format.bits == 8 && !is_float)) return;
    throw_error(ErrorKind::InvalidArgument, "{}: bits of a channel: got {}, expected {}", who,
                format.bits, is_float ? "16 or 32 (floats)" : "8, 16 or 32 (integers)");
}

void check_shape(const ArrayParams& p) {
    auto fail = [&](const char* expected) {
        throw_error(ErrorKind::InvalidArgument,
                    "CudaArray: shape: got width {}, height {}, depth {}, expected {}", p.width,
                    p.height, p.depth, expected);
    };
    if (p.width == 0) fail("a width of at least 1");
    if (p.cubemap) {
        if (p.width != p.height) fail("a cubemap's width and height alike");
        if (p.layered ? p.depth == 0 || p.depth % 6 != 0 : p.depth != 6)
            fail(p.layered ? "a depth of six for each cube" : "a depth of 6, a cubemap's faces");
    } else if (p.layered) {
        if (p.depth == 0) fail("a depth: the number of layers");
    } else if (p.depth != 0 && p.height == 0) {
        fail("a height, since there is a depth");
    }
    if (p.gather && (p.height == 0 || p.depth != 0)) fail("two axes: tex2Dgather reads no others");
    const size_t most = SIZE_MAX / 16;
    if (p.width > most / p.rows() || p.width * p.rows() > most / p.slices()) fail("less");
}

// Tightly packed unless told otherwise.
BoxEnd packed(BoxEnd end, size_t width_bytes, size_t height) {
    if (end.pitch == 0) end.pitch = width_bytes;
    if (end.slice_pitch == 0) end.slice_pitch = end.pitch * height;
    return end;
}

void check_in_array(const char* side, const ArrayParams& p, const BoxEnd& end, size_t width_bytes,
                    size_t height, size_t depth) {
    auto inside = [](size_t start, size_t count, size_t all) {
        return start <= all && count <= all - start;
    };
    if (inside(end.x_bytes, width_bytes, p.row_bytes()) && inside(end.y, height, p.rows()) &&
        inside(end.slice, depth, p.slices()))
        return;
    throw_error(ErrorKind::InvalidArgument,
                "copy_box: {} leaves the array: got {} bytes x {} rows x {} slices from ({}, {}, "
                "{}), expected at most {} bytes x {} rows x {} slices in all",
                side, width_bytes, height, depth, end.x_bytes, end.y, end.slice, p.row_bytes(),
                p.rows(), p.slices());
}

void check_in_buffer(const char* side, const Buffer& buffer, const BoxEnd& end, size_t width_bytes,
                     size_t height, size_t depth) {
    buffer.require_live("copy_box");
    const size_t extent = region_extent(width_bytes, height, depth, end.pitch, end.slice_pitch);
    if (end.address >= buffer.address() && end.address - buffer.address() <= buffer.nbytes() &&
        extent <= buffer.nbytes() - (end.address - buffer.address()))
        return;
    throw_error(ErrorKind::InvalidArgument,
                "copy_box: {} is outside its allocation: got {} bytes from byte {}, expected at "
                "most {} bytes",
                side, extent, static_cast<int64_t>(end.address - buffer.address()),
                buffer.nbytes());
}

BoxEnd checked_end(const char* side, const CopyEnd& end, size_t width_bytes, size_t height,
                   size_t depth) {
    if (end.array) {
        check_in_array(side, end.array->params(), end.place, width_bytes, height, depth);
        BoxEnd place = end.place;
        place.place = BoxEnd::Place::Array;
        place.array = end.array->raw("copy_box");
        return place;
    }
    const BoxEnd place = packed(end.place, width_bytes, height);
    if (height > 1 && place.pitch < width_bytes)
        throw_error(ErrorKind::InvalidArgument,
                    "copy_box: the pitch of {} is smaller than a row: got {}, expected at least "
                    "{} bytes",
                    side, place.pitch, width_bytes);
    if (end.buffer != nullptr)
        check_in_buffer(side, *end.buffer, place, width_bytes, height, depth);
    return place;
}

void check_context(const char* who, const Context& given, const Context& expected) {
    if (&given != &expected)
        throw_error(ErrorKind::InvalidArgument,
                    "{}: of another device: got an array of device {}, expected one of device {}",
                    who, given.index(), expected.index());
}

void check_reading(const TextureParams& p) {
    const bool gives_floats =
        p.format.kind == ChannelKind::Float || (p.format.normalizable() && !p.elements_as_they_are);
    if (p.filter == FilterMode::Linear && !gives_floats)
        throw_error(ErrorKind::InvalidArgument,
                    "Texture: linear filtering of integers: got {}-bit elements read as they are, "
                    "expected floats: filter by point, or read normalised numbers of 8 or 16 bits",
                    p.format.bits);
    if (p.srgb &&
        (p.format.bits != 8 || p.format.kind != ChannelKind::Unsigned || p.elements_as_they_are))
        throw_error(ErrorKind::InvalidArgument,
                    "Texture: sRGB: got {}-bit elements{}, expected unsigned 8-bit ones read "
                    "normalised",
                    p.format.bits, p.elements_as_they_are ? " read as they are" : "");
}

int attribute(const Context& context, int number) {
    const auto& all = context.properties().attributes;
    const auto found = all.find(number);
    return found == all.end() || found->second <= 0 ? 1 : found->second;
}

void check_memory(const Context& context, const Buffer& buffer, size_t offset,
                  const TextureParams& p) {
    buffer.require_live("Texture");
    const size_t row = p.width * p.format.element_bytes();
    const bool linear = p.source == TextureParams::Source::Linear;
    if (p.width == 0 || p.height == 0 || (linear && p.height != 1))
        throw_error(ErrorKind::InvalidArgument,
                    "Texture: shape: got width {}, height {}, expected at least one element{}",
                    p.width, p.height, linear ? " and one row" : "");
    const size_t extent = linear ? row : region_extent(row, p.height, 1, p.pitch_bytes, 0);
    if (!linear && p.pitch_bytes < row)
        throw_error(ErrorKind::InvalidArgument,
                    "Texture: pitch: got {} bytes, expected at least the {} of a row",
                    p.pitch_bytes, row);
    if (offset > buffer.nbytes() || extent > buffer.nbytes() - offset)
        throw_error(ErrorKind::InvalidArgument,
                    "Texture: more than the memory holds: got {} bytes from byte {}, expected at "
                    "most {} bytes",
                    extent, offset, buffer.nbytes());
    const auto base = static_cast<size_t>(attribute(context, kTextureAlignment));
    if ((buffer.address() + offset) % base != 0)
        throw_error(ErrorKind::InvalidArgument,
                    "Texture: address {:#x}: expected a multiple of {}: copy the data to memory "
                    "of its own",
                    buffer.address() + offset, base);
    const auto pitch = static_cast<size_t>(attribute(context, kTexturePitchAlignment));
    if (!linear && p.pitch_bytes % pitch != 0)
        throw_error(ErrorKind::InvalidArgument,
                    "Texture: pitch: got {} bytes, expected a multiple of {}", p.pitch_bytes,
                    pitch);
}

}  // namespace

namespace {

// Now, or when nothing is captured any more: `destroy` waits for the device.
void destroy_later(Context& context, std::function<void()> destroy) noexcept {
    if (!context.captures().any()) [[likely]]
        return destroy();
    struct Last {
        explicit Last(std::function<void()> d) : destroy(std::move(d)) {}
        ~Last() { destroy(); }
        std::function<void()> destroy;
    };
    try {
        context.captures().later(std::make_shared<const Last>(std::move(destroy)));
    } catch (const std::exception& error) {
        report_cleanup_failure("destroying during a capture (it is lost)", error.what());
    }
}

}  // namespace

struct CudaArray::Memory {
    explicit Memory(ContextPtr owner) : context(std::move(owner)) {}
    ~Memory() {
        if (raw != 0 && context->usable())
            destroy_later(*context, [c = context, r = raw] { c->device().destroy_array(r); });
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ContextPtr context;
    RawArray raw = 0;
};

CudaArrayPtr CudaArray::create(const ContextPtr& context, const ArrayParams& params) {
    context->require_usable("CudaArray");
    check_format("CudaArray", params.format);
    check_shape(params);
    CudaArrayPtr array(new CudaArray);
    array->context_ = context;
    array->params_ = params;
    array->memory_ = std::make_shared<Memory>(context);
    array->memory_->raw = context->device().create_array(params);
    return array;
}

std::shared_ptr<CudaArray::Memory> CudaArray::memory(const char* who) const {
    std::lock_guard lock(mutex_);
    if (!memory_) throw_error(ErrorKind::InvalidArgument, "{}: this array was freed", who);
    return memory_;
}

RawArray CudaArray::raw(const char* who) const { return memory(who)->raw; }

bool CudaArray::freed() const {
    std::lock_guard lock(mutex_);
    return !memory_;
}

void CudaArray::free_now() {
    std::shared_ptr<Memory> gone = memory("CudaArray.free");
    std::lock_guard lock(mutex_);
    memory_.reset();
}

void copy_box(const CopyEnd& dst, const CopyEnd& src, size_t width_bytes, size_t height,
              size_t depth, const StreamPtr& stream, bool wait) {
    Context& context = *stream->context();
    context.require_usable("copy_box");
    for (const CopyEnd* end : {&dst, &src})
        if (end->array) check_context("copy_box", *end->array->context(), context);
    BoxCopy copy;
    copy.width_bytes = width_bytes;
    copy.height = height;
    copy.depth = depth;
    copy.dst = checked_end("the destination", dst, width_bytes, height, depth);
    copy.src = checked_end("the source", src, width_bytes, height, depth);
    if (width_bytes == 0 || height == 0 || depth == 0) return;
    for (const CopyEnd* end : {&dst, &src})
        if (end->buffer != nullptr) end->buffer->record_use(stream);
    context.device().copy_box(copy, stream->raw(), wait);
}

void Texture::make() {
    check_format("Texture", params_.format);
    check_reading(params_);
    raw_ = context_->device().create_texture(params_);
}

TexturePtr Texture::create(const CudaArrayPtr& array, TextureParams params) {
    array->context()->require_usable("Texture");
    const std::shared_ptr<CudaArray::Memory> memory = array->memory("Texture");
    const ArrayParams& shape = array->params();
    params.source = TextureParams::Source::Array;
    params.array = memory->raw;
    params.format = shape.format;
    params.width = shape.width;
    params.height = shape.rows();
    TexturePtr texture(new Texture);
    texture->context_ = array->context();
    texture->params_ = params;
    texture->kept_ = memory;
    texture->make();
    return texture;
}

TexturePtr Texture::create(const BufferPtr& buffer, size_t offset, TextureParams params) {
    buffer->context()->require_usable("Texture");
    check_format("Texture", params.format);
    check_memory(*buffer->context(), *buffer, offset, params);
    params.address = buffer->address() + offset;
    TexturePtr texture(new Texture);
    texture->context_ = buffer->context();
    texture->params_ = params;
    texture->kept_ = buffer;
    texture->make();
    buffer->mark_escaped();  // launches do not see that they use it
    return texture;
}

Texture::~Texture() {
    if (raw_ == 0 || !context_->usable()) return;
    // What it reads goes after it.
    destroy_later(*context_, [c = context_, r = raw_, kept = std::move(kept_)] {
        c->device().destroy_texture(r);
    });
}

SurfacePtr Surface::create(const CudaArrayPtr& array) {
    array->context()->require_usable("Surface");
    const std::shared_ptr<CudaArray::Memory> memory = array->memory("Surface");
    if (!array->params().surface)
        throw_error(ErrorKind::InvalidArgument,
                    "Surface: the array is not for surfaces: make it with the flag of loads and "
                    "stores by surface");
    SurfacePtr surface(new Surface);
    surface->context_ = array->context();
    surface->kept_ = memory;
    surface->raw_ = array->context()->device().create_surface(memory->raw);
    return surface;
}

Surface::~Surface() {
    if (raw_ == 0 || !context_->usable()) return;
    destroy_later(*context_, [c = context_, r = raw_, kept = std::move(kept_)] {
        c->device().destroy_surface(r);
    });
}

}  // namespace trilane::core
