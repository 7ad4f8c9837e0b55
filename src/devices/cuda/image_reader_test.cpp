// Damaged images are seen before the driver gets them.
#include "devices/cuda/image_reader.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

namespace trilane::cuda {
namespace {

// An ELF file with one symbol table: a kernel and a variable.
std::string small_cubin() {
    const std::string names("\0kernel\0variable\0", 17);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    Elf64_Sym symbols[2]{};
    symbols[0].st_name = 1;
    symbols[0].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbols[0].st_other = 0x10;
    symbols[1].st_name = 8;
    symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    Elf64_Shdr sections[3]{};
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_link = 2;
    sections[1].sh_offset = sizeof header;
    sections[1].sh_size = sizeof symbols;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = sizeof header + sizeof symbols;
    sections[2].sh_size = names.size();
    header.e_shoff = sections[2].sh_offset + names.size();
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(symbols), sizeof symbols);
    bytes += names;
    bytes.append(reinterpret_cast<const char*>(sections), sizeof sections);
    return bytes;
}

TEST(ImageReader, ReadsSymbolsOfACubin) {
    const std::string bytes = small_cubin();
    EXPECT_EQ(form_of(bytes), ImageForm::Cubin);
    EXPECT_EQ(damage_of(bytes), "");
    EXPECT_EQ(kernel_names(bytes), std::vector<std::string>{"kernel"});
    EXPECT_EQ(symbols_with_prefix(bytes, "var"), std::vector<std::string>{"variable"});
}

TEST(ImageReader, SeesEveryTruncation) {
    const std::string bytes = small_cubin();
    for (size_t length = 0; length < bytes.size(); ++length) {
        const std::string part = bytes.substr(0, length);
        EXPECT_NE(damage_of(part), "") << length;
        kernel_names(part);
    }
}

TEST(ImageReader, ReadsNothingOutsideWhateverTheBytesAre) {
    const std::string good = small_cubin();
    for (size_t at = 4; at < good.size(); ++at)
        for (const char value : {'\0', '\x7f', '\xff'}) {
            std::string bytes = good;
            bytes[at] = value;
            damage_of(bytes);
            kernel_names(bytes);
            symbols_with_prefix(bytes, "v");
        }
}

TEST(ImageReader, ReadsKernelsOfPtx) {
    const std::string text =
        ".version 8.0\n.target sm_90\n.visible .entry first(\n.param .u64 a)\n.entry second() {}";
    EXPECT_EQ(form_of(text), ImageForm::Ptx);
    EXPECT_EQ(kernel_names(text), (std::vector<std::string>{"first", "second"}));
}

TEST(ImageReader, SeesAFatbinThatIsNotWhole) {
    std::string bytes("\x50\xED\x55\xBA\x01\x00\x10\x00\x08\x00\x00\x00\x00\x00\x00\x00", 16);
    EXPECT_EQ(form_of(bytes), ImageForm::Fatbin);
    EXPECT_NE(damage_of(bytes), "");
    bytes += "12345678";
    EXPECT_EQ(damage_of(bytes), "");
}

}  // namespace
}  // namespace trilane::cuda
