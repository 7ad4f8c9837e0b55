// Arrays, textures and surfaces by the core's handles, over the fake driver.
#include <numeric>
#include <vector>

#include "core/texture.h"
#include "devices/cuda/testing/fake_cuda.h"

namespace trilane::cuda {
namespace {

using core::ArrayParams;
using core::BoxEnd;
using core::ChannelFormat;
using core::ChannelKind;
using core::CudaArray;
using core::CudaArrayPtr;
using core::DevicePtr;
using core::Surface;
using core::Texture;
using core::TextureParams;
using testing::FakeCuda;

class TexturesTest : public FakeCuda {
  protected:
    void SetUp() override {
        context = core::Context::create(make_device(), 0);
        stream = context->default_stream();
    }
    void TearDown() override {
        stream.reset();
        context.reset();
        EXPECT_EQ(machine->alive(), 0);
    }
    static ArrayParams shape(size_t width, size_t height, size_t depth, uint8_t bits = 8) {
        ArrayParams params;
        params.format = {ChannelKind::Unsigned, bits, 1};
        params.width = width;
        params.height = height;
        params.depth = depth;
        return params;
    }
    static core::CopyEnd host(void* data) {
        core::CopyEnd end;
        end.place.place = BoxEnd::Place::Host;
        end.place.address = reinterpret_cast<DevicePtr>(data);
        return end;
    }
    static core::CopyEnd end_of(const CudaArrayPtr& array, size_t x = 0, size_t y = 0,
                                size_t slice = 0) {
        core::CopyEnd end;
        end.array = array;
        end.place.x_bytes = x;
        end.place.y = y;
        end.place.slice = slice;
        return end;
    }
    core::ContextPtr context;
    core::StreamPtr stream;
};

TEST_F(TexturesTest, BoxesGoToArraysBetweenThemAndBack) {
    std::vector<char> data(7 * 5 * 3), part(3 * 2 * 2), whole(data.size());
    std::iota(data.begin(), data.end(), char{0});
    const CudaArrayPtr a = CudaArray::create(context, shape(7, 5, 3));
    const CudaArrayPtr b = CudaArray::create(context, shape(7, 5, 3));
    EXPECT_EQ(machine->arrays, 2);
    core::copy_box(end_of(a), host(data.data()), 7, 5, 3, stream, true);
    core::copy_box(end_of(b), end_of(a), 7, 5, 3, stream, true);
    core::copy_box(host(whole.data()), end_of(b), 7, 5, 3, stream, true);
    EXPECT_EQ(whole, data);
    core::copy_box(host(part.data()), end_of(a, 2, 1, 1), 3, 2, 2, stream, true);
    size_t i = 0;
    for (size_t z = 1; z < 3; ++z)
        for (size_t y = 1; y < 3; ++y)
            for (size_t x = 2; x < 5; ++x) EXPECT_EQ(part[i++], data[(z * 5 + y) * 7 + x]);
}

TEST_F(TexturesTest, MemoryWhoseSlicesAreNoWholeRowsApartIsCopiedSliceBySlice) {
    std::vector<char> data(64), back(8);
    std::iota(data.begin(), data.end(), char{0});
    const CudaArrayPtr a = CudaArray::create(context, shape(2, 2, 2));
    core::CopyEnd source = host(data.data());
    source.place.pitch = 5;
    source.place.slice_pitch = 23;
    core::copy_box(end_of(a), source, 2, 2, 2, stream, true);
    core::copy_box(host(back.data()), end_of(a), 2, 2, 2, stream, true);
    EXPECT_EQ(back, (std::vector<char>{0, 1, 5, 6, 23, 24, 28, 29}));
}

TEST_F(TexturesTest, CopiesThatLeaveAnArrayOrABufferAreRefused) {
    std::vector<char> data(64);
    const CudaArrayPtr a = CudaArray::create(context, shape(4, 4, 0));
    EXPECT_ERROR(core::copy_box(end_of(a, 1), host(data.data()), 4, 4, 1, stream, true),
                 InvalidArgument, "leaves the array");
    EXPECT_ERROR(core::copy_box(end_of(a, 0, 3), host(data.data()), 4, 2, 1, stream, true),
                 InvalidArgument, "leaves the array");
    EXPECT_ERROR(core::copy_box(end_of(a), host(data.data()), 4, 4, 2, stream, true),
                 InvalidArgument, "leaves the array");
    const core::BufferPtr small = core::Buffer::allocate(stream, 15);
    core::CopyEnd memory;
    memory.buffer = small.get();
    memory.place.address = small->address();
    EXPECT_ERROR(core::copy_box(end_of(a), memory, 4, 4, 1, stream, true), InvalidArgument,
                 "outside its allocation");
}

TEST_F(TexturesTest, ShapesAndFormatsThatThereAreNotAreRefused) {
    EXPECT_ERROR(CudaArray::create(context, shape(0, 0, 0)), InvalidArgument, "width");
    EXPECT_ERROR(CudaArray::create(context, shape(4, 0, 4)), InvalidArgument, "height");
    EXPECT_ERROR(CudaArray::create(context, shape(4, 4, 0, 12)), InvalidArgument, "8, 16 or 32");
    ArrayParams three = shape(4, 4, 0);
    three.format.channels = 3;
    EXPECT_ERROR(CudaArray::create(context, three), InvalidArgument, "1, 2 or 4");
    ArrayParams cube = shape(4, 4, 5);
    cube.cubemap = true;
    EXPECT_ERROR(CudaArray::create(context, cube), InvalidArgument, "faces");
    ArrayParams layers = shape(4, 0, 3);
    layers.layered = true;
    EXPECT_NE(CudaArray::create(context, layers), nullptr);
    EXPECT_ERROR(CudaArray::create(context, shape(1 << 20, 1 << 20, 0)), OutOfMemory, "(2)");
}

TEST_F(TexturesTest, ATextureKeepsItsArrayAndASurfaceToo) {
    ArrayParams params = shape(4, 4, 0);
    params.surface = true;
    CudaArrayPtr array = CudaArray::create(context, params);
    core::TexturePtr texture = Texture::create(array, {});
    core::SurfacePtr surface = Surface::create(array);
    EXPECT_NE(texture->raw(), 0u);
    EXPECT_NE(surface->raw(), texture->raw());
    array->free_now();
    EXPECT_ERROR(array->free_now(), InvalidArgument, "was freed");
    EXPECT_ERROR(Texture::create(array, {}), InvalidArgument, "was freed");
    array.reset();
    EXPECT_EQ(machine->arrays, 1);
    texture.reset();
    EXPECT_EQ(machine->textures, 0);
    EXPECT_EQ(machine->arrays, 1);
    surface.reset();
    EXPECT_EQ(machine->arrays, 0);
}

TEST_F(TexturesTest, WhatCannotBeReadIsRefusedBeforeTheDriverSeesIt) {
    const CudaArrayPtr bytes = CudaArray::create(context, shape(4, 4, 0));
    TextureParams linear;
    linear.filter = core::FilterMode::Linear;
    EXPECT_NE(Texture::create(bytes, linear), nullptr);  // normalised
    linear.elements_as_they_are = true;
    EXPECT_ERROR(Texture::create(bytes, linear), InvalidArgument, "linear filtering of integers");
    const CudaArrayPtr words = CudaArray::create(context, shape(4, 4, 0, 32));
    linear.elements_as_they_are = false;
    EXPECT_ERROR(Texture::create(words, linear), InvalidArgument, "linear filtering of integers");
    TextureParams srgb;
    srgb.srgb = true;
    EXPECT_ERROR(Texture::create(words, srgb), InvalidArgument, "sRGB");
    EXPECT_ERROR(Surface::create(bytes), InvalidArgument, "not for surfaces");
}

TEST_F(TexturesTest, TexturesOfMemoryKeepItAndWantItAligned) {
    core::BufferPtr memory = core::Buffer::allocate(stream, 4096);
    TextureParams params;
    params.source = TextureParams::Source::Linear;
    params.width = 1024;
    core::TexturePtr texture = Texture::create(memory, 0, params);
    EXPECT_TRUE(memory->escaped());
    EXPECT_ERROR(Texture::create(memory, 4, params), InvalidArgument, "more than the memory");
    params.width = 16;
    EXPECT_ERROR(Texture::create(memory, 4, params), InvalidArgument, "multiple of 512");
    params.source = TextureParams::Source::Pitch2D;
    params.height = 8;
    params.pitch_bytes = 80;
    EXPECT_ERROR(Texture::create(memory, 0, params), InvalidArgument, "multiple of 32");
    params.pitch_bytes = 32;
    EXPECT_ERROR(Texture::create(memory, 0, params), InvalidArgument, "pitch");
    params.pitch_bytes = 64;
    EXPECT_NE(Texture::create(memory, 0, params), nullptr);
    memory.reset();
    const size_t used = machine->used;
    texture.reset();
    EXPECT_LE(machine->used, used);
}

}  // namespace
}  // namespace trilane::cuda
