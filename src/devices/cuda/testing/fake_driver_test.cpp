// The fake driver as a library.
#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

namespace trilane::cuda {
namespace {

// Else the leak check of GCC 12's sanitizers crashes now and then: CMakeLists.txt says how.
TEST(FakeDriverLibrary, ItsThreadLocalMemoryIsStatic) {
    void* library = dlopen(TRILANE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    link_map* map = nullptr;
    ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0) << dlerror();
    ElfW(Xword) flags = 0;
    for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_FLAGS) flags = entry->d_un.d_val;
    EXPECT_NE(flags & DF_STATIC_TLS, 0u) << TRILANE_FAKE_CUDA;
    dlclose(library);
}

}  // namespace
}  // namespace trilane::cuda
