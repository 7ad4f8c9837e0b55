// A careful reader of ELF tables and PTX text.
#include "devices/cuda/image_reader.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <functional>

namespace trilane::cuda {
namespace {

constexpr uint32_t kFatbinMagic = 0xBA55ED50;

template <typename T>
bool read(std::string_view bytes, uint64_t at, T& value) {
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return true;
}

// Visits each section header; false if the table is not whole.
bool each_section(std::string_view bytes, const std::function<void(const Elf64_Shdr&)>& visit) {
    Elf64_Ehdr header;
    if (!read(bytes, 0, header) || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
    if (header.e_shnum != 0 && header.e_shentsize < sizeof(Elf64_Shdr)) return false;
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section;
        if (header.e_shoff > bytes.size() ||
            !read(bytes, header.e_shoff + i * header.e_shentsize, section))
            return false;
        visit(section);
    }
    return true;
}

std::string_view piece(std::string_view bytes, const Elf64_Shdr& section) {
    if (section.sh_offset > bytes.size() || bytes.size() - section.sh_offset < section.sh_size)
        return {};
    return bytes.substr(section.sh_offset, section.sh_size);
}

std::string_view text_at(std::string_view strings, uint64_t at) {
    if (at >= strings.size()) return {};
    const std::string_view rest = strings.substr(at);
    return rest.substr(0, rest.find('\0'));
}

void each_symbol(std::string_view bytes,
                 const std::function<void(std::string_view, const Elf64_Sym&)>& visit) {
    std::vector<Elf64_Shdr> sections;
    if (!each_section(bytes, [&](const Elf64_Shdr& s) { sections.push_back(s); })) return;
    for (const Elf64_Shdr& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const std::string_view strings = piece(bytes, sections[section.sh_link]);
        const std::string_view table = piece(bytes, section);
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            read(table, at, symbol);
            visit(text_at(strings, symbol.st_name), symbol);
        }
    }
}

bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

std::string_view name_at(std::string_view text, size_t at) {
    size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    return text.substr(at, end - at);
}

std::string damage_of_cubin(std::string_view bytes) {
    std::string why;
    const bool whole = each_section(bytes, [&](const Elf64_Shdr& section) {
        if (section.sh_type == SHT_NOBITS || section.sh_size == 0) return;
        if (piece(bytes, section).empty()) why = "a section lies outside the file";
    });
    if (!whole) return "the table of sections is not whole";
    return why;
}

std::string damage_of_fatbin(std::string_view bytes) {
    uint16_t header_bytes = 0;
    uint64_t content_bytes = 0;
    if (!read(bytes, 6, header_bytes) || !read(bytes, 8, content_bytes))
        return "the header is not whole";
    const uint64_t rest = bytes.size() < header_bytes ? 0 : bytes.size() - header_bytes;
    if (content_bytes > rest)
        return fmt::format("{} bytes are announced and {} are there", content_bytes, rest);
    return {};
}

}  // namespace

ImageForm form_of(std::string_view bytes) {
    uint32_t magic = 0;
    if (bytes.starts_with("\x7f"
                          "ELF"))
        return ImageForm::Cubin;
    if (read(bytes, 0, magic) && magic == kFatbinMagic) return ImageForm::Fatbin;
    if (bytes.substr(0, 65536).find(".version") != std::string_view::npos) return ImageForm::Ptx;
    return ImageForm::Unknown;
}

std::string damage_of(std::string_view bytes) {
    switch (form_of(bytes)) {
        case ImageForm::Cubin:
            return damage_of_cubin(bytes);
        case ImageForm::Fatbin:
            return damage_of_fatbin(bytes);
        case ImageForm::Ptx:
            return {};
        case ImageForm::Unknown:
            break;
    }
    return bytes.empty() ? "it is empty" : "it is neither a cubin nor a fatbin nor PTX";
}

bool is_host_object(std::string_view bytes) {
    constexpr uint16_t kCudaMachine = 190;
    Elf64_Ehdr header;
    return form_of(bytes) == ImageForm::Cubin && read(bytes, 0, header) &&
           header.e_machine != kCudaMachine;
}

bool is_relocatable(std::string_view bytes) {
    Elf64_Ehdr header;
    return form_of(bytes) == ImageForm::Cubin && read(bytes, 0, header) && header.e_type == ET_REL;
}

std::vector<std::string> symbols_with_prefix(std::string_view bytes, std::string_view prefix) {
    std::vector<std::string> names;
    if (form_of(bytes) == ImageForm::Cubin) {
        each_symbol(bytes, [&](std::string_view name, const Elf64_Sym&) {
            if (name.starts_with(prefix)) names.emplace_back(name);
        });
    } else if (form_of(bytes) == ImageForm::Ptx) {
        for (size_t at = bytes.find(prefix); at != std::string_view::npos;
             at = bytes.find(prefix, at + prefix.size()))
            names.emplace_back(name_at(bytes, at));
    }
    return names;
}

std::vector<std::string> kernel_names(std::string_view bytes) {
    std::vector<std::string> names;
    if (form_of(bytes) == ImageForm::Cubin) {
        constexpr unsigned char kEntry = 0x10;  // marks kernels among functions
        each_symbol(bytes, [&](std::string_view name, const Elf64_Sym& symbol) {
            if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kEntry) != 0)
                names.emplace_back(name);
        });
    } else if (form_of(bytes) == ImageForm::Ptx) {
        constexpr std::string_view kEntry = ".entry";
        for (size_t at = bytes.find(kEntry); at != std::string_view::npos;
             at = bytes.find(kEntry, at + kEntry.size())) {
            size_t start = at + kEntry.size();
            while (start < bytes.size() && (bytes[start] == ' ' || bytes[start] == '\t')) ++start;
            if (const std::string_view name = name_at(bytes, start); !name.empty())
                names.emplace_back(name);
        }
    }
    return names;
}

}  // namespace trilane::cuda
