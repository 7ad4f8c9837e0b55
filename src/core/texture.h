// Handles of CUDA arrays, texture objects and surface objects. A texture or surface keeps what it
// reads: memory given back early (free_now) lives until the last of them is gone.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "core/buffer.h"
#include "core/texture_params.h"

namespace trilane::core {

class CudaArray;
using CudaArrayPtr = std::shared_ptr<CudaArray>;
class Texture;
using TexturePtr = std::shared_ptr<Texture>;
class Surface;
using SurfacePtr = std::shared_ptr<Surface>;

class CudaArray {
  public:
    // Uninitialised memory. InvalidArgument for a format or shape that there is not.
    static CudaArrayPtr create(const ContextPtr& context, const ArrayParams& params);

    const ContextPtr& context() const { return context_; }
    const ArrayParams& params() const { return params_; }
    RawArray raw(const char* who) const;  // InvalidArgument after free_now()
    void free_now();                      // InvalidArgument the second time
    bool freed() const;

  private:
    friend class Texture;
    friend class Surface;
    struct Memory;  // gives it back when it goes
    CudaArray() = default;
    std::shared_ptr<Memory> memory(const char* who) const;
    ContextPtr context_;
    ArrayParams params_;
    mutable std::mutex mutex_;
    std::shared_ptr<Memory> memory_;  // null once freed
};

// One end of a copy, as a caller has it: an array, a buffer with an address in it, or an address.
struct CopyEnd {
    CudaArrayPtr array;
    Buffer* buffer = nullptr;  // may be null: the address is taken as it is
    BoxEnd place;              // pitches of 0: tightly packed
};

// Copies a box of bytes to, from or between arrays (or plain memory), ordered on `stream`; host
// memory as core::copy_region has it. InvalidArgument if it leaves an array or a buffer.
void copy_box(const CopyEnd& dst, const CopyEnd& src, size_t width_bytes, size_t height,
              size_t depth, const StreamPtr& stream, bool wait);

class Texture {
  public:
    // `params.array`, `params.format` and the sizes are taken from the array.
    static TexturePtr create(const CudaArrayPtr& array, TextureParams params);
    // Of memory from `offset` on: `params.width` elements, or `params.height` rows of them.
    static TexturePtr create(const BufferPtr& buffer, size_t offset, TextureParams params);
    ~Texture();

    const ContextPtr& context() const { return context_; }
    const TextureParams& params() const { return params_; }
    RawTexture raw() const { return raw_; }

  private:
    Texture() = default;
    void make();
    ContextPtr context_;
    TextureParams params_;
    std::shared_ptr<void> kept_;  // the array's memory, or the buffer
    RawTexture raw_ = 0;
};

class Surface {
  public:
    static SurfacePtr create(const CudaArrayPtr& array);  // made with params().surface
    ~Surface();

    const ContextPtr& context() const { return context_; }
    RawSurface raw() const { return raw_; }

  private:
    Surface() = default;
    ContextPtr context_;
    std::shared_ptr<void> kept_;
    RawSurface raw_ = 0;
};

}  // namespace trilane::core
