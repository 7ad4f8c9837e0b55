// Build id of the object that holds this code.
#include "devices/cpu/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstring>

namespace trilane::cpu {

namespace {

struct Search {
    uintptr_t inside = 0;  // an address of the object
    std::string id;
};

std::string id_of_notes(const char* notes, size_t nbytes) {
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= nbytes;) {
        ElfW(Nhdr) header;
        std::memcpy(&header, notes + at, sizeof header);
        size_t name = at + sizeof header, data = name + (header.n_namesz + 3) / 4 * 4;
        size_t end = data + (header.n_descsz + 3) / 4 * 4;
        if (end > nbytes) break;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
            std::memcmp(notes + name, "GNU", 4) == 0) {
            std::string hex;
            for (size_t i = 0; i < header.n_descsz; ++i)
                hex += fmt::format("{:02x}", static_cast<unsigned char>(notes[data + i]));
            return hex;
        }
        at = end;
    }
    return {};
}

int visit(dl_phdr_info* info, size_t, void* argument) {
    auto* search = static_cast<Search*>(argument);
    bool ours = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part.p_vaddr;
        ours |= part.p_type == PT_LOAD && search->inside >= begin &&
                search->inside < begin + part.p_memsz;
    }
    if (!ours) return 0;
    for (int i = 0; i < info->dlpi_phnum && search->id.empty(); ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type == PT_NOTE)
            search->id = id_of_notes(reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr),
                                     part.p_memsz);
    }
    return 1;
}

std::string find_build_id() {
    Search search;
    search.inside = reinterpret_cast<uintptr_t>(&build_id);
    dl_iterate_phdr(visit, &search);
    if (!search.id.empty()) return search.id;
    Dl_info info{};
    struct stat file{};
    if (dladdr(reinterpret_cast<void*>(&build_id), &info) != 0 && info.dli_fname != nullptr &&
        stat(info.dli_fname, &file) == 0)
        return fmt::format("{}.{}.{}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
    return "unknown";
}

}  // namespace

const std::string& build_id() {
    static const std::string id = find_build_id();
    return id;
}

}  // namespace trilane::cpu
