// Loaded kernels of the array level, found by a key of plain words: no string is built for a call
// whose kernel is there.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>

#include "core/launch.h"
#include "core/module.h"

namespace trilane::array {

struct KernelKey {
    static constexpr int kWords = 6;
    uint64_t words[kWords] = {};
    int count = 0;  // words in use
    void add(uint64_t word) { words[count++] = word; }
    bool operator==(const KernelKey& other) const {
        return count == other.count &&
               std::memcmp(words, other.words, static_cast<size_t>(count) * 8) == 0;
    }
    uint64_t hash() const;
};

// What a kernel is made of: text whose only kernel is `entry` (extern "C"), and options.
struct KernelSource {
    std::string entry;
    std::string text;
    std::vector<std::string> options =
        {};                 // besides -fmad=false, which our own kernels always have
    bool contract = false;  // user kernels: leave contraction as the compiler has it
    std::string file_name = "array_kernel.cu";
    // On the cpu device, threads in one vector: 1 where a thread's own loop is what vectorises.
    // Many such threads in lanes gather, and take ten times as long to compile. 0: the device's
    // choice.
    int lanes = 0;
};

// A kernel each of whose threads runs a long loop of its own, or jumps about in memory.
inline KernelSource without_lanes(std::string entry, std::string text) {
    KernelSource source{std::move(entry), std::move(text)};
    source.lanes = 1;
    return source;
}

// The kernel of `key` on `context`, made by `make` (called without any lock, and without Python's
// lock) if there is none. The reference stays good as long as the context lives.
core::Function& find_kernel(const core::ContextPtr& context, const KernelKey& key,
                            const std::function<KernelSource()>& make);
// As above for keys that are rare and long: found by text.
core::FunctionPtr compile_kernel(const core::ContextPtr& context, const KernelSource& source);

// A new first word for keys of kernels that users define; never that of a ufunc's loop.
uint64_t new_kernel_id();

uint64_t launch_count();
size_t kernel_cache_size();
void clear_kernel_cache();

// Launches with packed arguments on the current stream and counts it.
void launch_kernel(core::Function& function, core::Dim3 grid, core::Dim3 block,
                   void* const* arguments, size_t count);

// The binding gives Python's lock away around what may take long: `leave` returns a token for
// `enter`, null if the lock was not held.
struct SlowSectionHooks {
    void* (*leave)() = nullptr;
    void (*enter)(void*) = nullptr;
};
void set_slow_section_hooks(SlowSectionHooks hooks);
class SlowSection {
  public:
    SlowSection();
    ~SlowSection();
    SlowSection(const SlowSection&) = delete;

  private:
    void* token_ = nullptr;
};

}  // namespace trilane::array
