// Encoding of lowered modules: little-endian fixed fields, strings and lists with their length
// first.
#include "devices/cpu/lower/image.h"

#include <cstring>
#include <type_traits>

#include "core/error.h"

namespace trilane::cpu {

namespace {

constexpr char kMagic[8] = {'t', 'r', 'i', 'l', 'a', 'n', 'e', '\n'};

class Writer {
  public:
    explicit Writer(std::string& out) : out_(out) {}
    void raw(const void* data, size_t nbytes) {
        out_.append(static_cast<const char*>(data), nbytes);
    }
    template <typename T>
    void field(T& value) {
        if constexpr (std::is_enum_v<T>) {
            auto number = static_cast<int64_t>(value);
            raw(&number, sizeof number);
        } else if constexpr (std::is_same_v<T, bool>) {
            uint8_t byte = value;
            raw(&byte, 1);
        } else {
            static_assert(std::is_integral_v<T>);
            raw(&value, sizeof value);
        }
    }
    void field(std::string& text) {
        auto nbytes = uint64_t(text.size());
        field(nbytes);
        raw(text.data(), text.size());
    }
    template <typename T, typename Each>
    void list(std::vector<T>& items, Each each) {
        auto count = uint64_t(items.size());
        field(count);
        for (T& item : items) each(item);
    }

  private:
    std::string& out_;
};

class Reader {
  public:
    explicit Reader(const std::string& bytes) : next_(bytes.data()), left_(bytes.size()) {}
    void raw(void* data, size_t nbytes) {
        if (nbytes > left_)
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "load: image of the cpu device is cut off: {} bytes missing",
                              nbytes - left_);
        std::memcpy(data, next_, nbytes);
        next_ += nbytes;
        left_ -= nbytes;
    }
    template <typename T>
    void field(T& value) {
        if constexpr (std::is_enum_v<T>) {
            int64_t number = 0;
            raw(&number, sizeof number);
            value = static_cast<T>(number);
        } else if constexpr (std::is_same_v<T, bool>) {
            uint8_t byte = 0;
            raw(&byte, 1);
            value = byte != 0;
        } else {
            raw(&value, sizeof value);
        }
    }
    void field(std::string& text) {
        uint64_t nbytes = 0;
        field(nbytes);
        if (nbytes > left_)
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "load: image of the cpu device is cut off");
        text.assign(next_, nbytes);
        next_ += nbytes;
        left_ -= nbytes;
    }
    template <typename T, typename Each>
    void list(std::vector<T>& items, Each each) {
        uint64_t count = 0;
        field(count);
        if (count > left_)  // an item has a byte at least
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "load: image of the cpu device is damaged");
        items.resize(count);
        for (T& item : items) each(item);
    }
    size_t left() const { return left_; }

  private:
    const char* next_;
    size_t left_;
};

template <typename Archive>
void parameter_fields(Archive& archive, core::Parameter& parameter) {
    archive.field(parameter.name);
    archive.field(parameter.c_type);
    archive.field(parameter.kind);
    archive.field(parameter.size);
    archive.field(parameter.align);
    archive.field(parameter.pointee_size);
    archive.field(parameter.pointee_kind);
    archive.field(parameter.pointee_const);
}

template <typename Archive>
void kernel_fields(Archive& archive, LoweredKernel& kernel) {
    archive.field(kernel.description.name);
    archive.field(kernel.description.max_threads_per_block);
    archive.field(kernel.description.line);
    archive.field(kernel.description.file);
    archive.list(kernel.description.parameters,
                 [&](core::Parameter& parameter) { parameter_fields(archive, parameter); });
    archive.field(kernel.entry_symbol);
    archive.field(kernel.shape);
    archive.field(kernel.turns_symbol);
    archive.field(kernel.waits_on_blocks);
    archive.field(kernel.grid_sync);
    archive.field(kernel.may_print);
    archive.field(kernel.narrow_axes);
    archive.field(kernel.row_fold);
    archive.field(kernel.static_shared_bytes);
    archive.field(kernel.dynamic_shared_align);
    archive.field(kernel.frame_bytes);
    archive.field(kernel.local_bytes);
    archive.field(kernel.scratch_bytes);
    archive.list(kernel.sites, [&](SuspendSite& site) {
        archive.field(site.kind);
        archive.field(site.line);
    });
}

template <typename Archive>
void module_fields(Archive& archive, LoweredModule& module) {
    archive.field(module.target_cpu);
    archive.field(module.target_features);
    archive.list(module.kernels, [&](LoweredKernel& kernel) { kernel_fields(archive, kernel); });
    archive.list(module.globals, [&](LoweredGlobal& global) {
        archive.field(global.name);
        archive.field(global.nbytes);
    });
    archive.field(module.object);
}

}  // namespace

std::string encode_module(const LoweredModule& module) {
    std::string bytes;
    Writer writer(bytes);
    writer.raw(kMagic, sizeof kMagic);
    uint32_t version = kImageVersion;
    writer.field(version);
    module_fields(writer, const_cast<LoweredModule&>(module));  // one field list for both ways
    return bytes;
}

LoweredModule decode_module(const std::string& bytes) {
    Reader reader(bytes);
    char magic[sizeof kMagic] = {};
    if (bytes.size() >= sizeof kMagic) reader.raw(magic, sizeof magic);
    if (std::memcmp(magic, kMagic, sizeof magic) != 0)
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "load: not an image of the cpu device: it loads what it compiled from "
                          "CUDA C++ itself, no cubin, fatbin or PTX");
    uint32_t version = 0;
    reader.field(version);
    if (version != kImageVersion)
        core::throw_error(
            core::ErrorKind::InvalidArgument,
            "load: image of the cpu device has version {}, expected {}: compile again", version,
            kImageVersion);
    LoweredModule module;
    module_fields(reader, module);
    if (reader.left() != 0)
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "load: image of the cpu device has {} bytes too many", reader.left());
    return module;
}

}  // namespace trilane::cpu
