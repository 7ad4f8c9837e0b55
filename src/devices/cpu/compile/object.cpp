// Encoding of objects: their kernels and options, then LLVM's bitcode.
#include "devices/cpu/compile/object.h"

#include "devices/cpu/compile/encoding.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace trilane::cpu {
namespace {

constexpr std::string_view kMagic = "trilane object\n";
constexpr uint32_t kVersion = 1;  // raised with every change of what is written

template <typename Archive>
void object_fields(Archive& archive, FrontEndResult& front, std::vector<std::string>& keep,
                   std::string& bitcode) {
    archive.list(front.kernels,
                 [&](KernelDescription& kernel) { description_fields(archive, kernel); });
    archive.list(keep, [&](std::string& name) { archive.field(name); });
    archive.field(front.options.line_info);
    archive.field(front.options.check);
    archive.field(front.options.fmad);
    archive.field(front.options.fast_math);
    archive.field(front.options.optimize);
    archive.field(bitcode);
}

}  // namespace

std::string encode_object(const FrontEndResult& front) {
    std::string bitcode;
    llvm::raw_string_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*front.module, stream);
    stream.flush();
    std::vector<std::string> keep(front.keep.begin(), front.keep.end());
    std::string bytes(kMagic);
    Writer writer(bytes);
    uint32_t version = kVersion;
    writer.field(version);
    object_fields(writer, const_cast<FrontEndResult&>(front), keep, bitcode);
    return bytes;
}

bool is_object(std::string_view bytes) { return bytes.starts_with(kMagic); }

FrontEndResult decode_object(const std::string& bytes, const std::string& name,
                             llvm::LLVMContext& context) {
    TRILANE_CHECK(is_object(bytes), "{} is no object", name);
    Reader reader(bytes, kMagic.size());
    uint32_t version = 0;
    reader.field(version);
    if (version != kVersion)
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "link: {} has version {}, expected {}: compile again", name, version,
                          kVersion);
    FrontEndResult front;
    std::vector<std::string> keep;
    std::string bitcode;
    object_fields(reader, front, keep, bitcode);
    front.keep.insert(keep.begin(), keep.end());
    front.separate = true;
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, name), context);
    if (!module)
        core::throw_error(core::ErrorKind::InvalidArgument, "link: {} is damaged: {}", name,
                          llvm::toString(module.takeError()));
    front.module = std::move(*module);
    return front;
}

}  // namespace trilane::cpu
