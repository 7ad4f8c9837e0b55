// The fields of lowered modules.
#include "devices/cpu/lower/image.h"

#include <cstring>

#include "core/error.h"
#include "devices/cpu/compile/encoding.h"

namespace trilane::cpu {

namespace {

constexpr char kMagic[8] = {'t', 'r', 'i', 'l', 'a', 'n', 'e', '\n'};

template <typename Archive>
void kernel_fields(Archive& archive, LoweredKernel& kernel) {
    description_fields(archive, kernel.description);
    archive.field(kernel.entry_symbol);
    archive.field(kernel.shape);
    archive.field(kernel.turns_symbol);
    archive.field(kernel.waits_on_blocks);
    archive.field(kernel.grid_sync);
    archive.field(kernel.meets_cluster);
    archive.field(kernel.may_print);
    archive.field(kernel.narrow_axes);
    archive.field(kernel.row_fold);
    archive.field(kernel.folds_tall);
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
