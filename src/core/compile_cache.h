// Program -> Image through memory and disk. The disk cache holds code that will run, so it lives in
// a directory of mode 0700 that the user owns (checked), files are written under a temporary name
// and renamed, and length and hash are verified on reading. A cache that cannot be used is no
// error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/device.h"

namespace trilane::core {

using ImagePtr = std::shared_ptr<const Image>;

struct CompileCacheStatistics {
    uint64_t memory_hits = 0, disk_hits = 0, compiled = 0, disk_writes = 0, disk_rejects = 0;
    uint64_t compile_ns = 0;  // time spent in the device's compiler
};

class CompileCache {
  public:
    explicit CompileCache(Device& device);
    ~CompileCache();
    // Threads asking for the same program compile it once. A thread whose waits may be left
    // (background.h) has it compiled on another and may be thrown out of the wait.
    ImagePtr get(const Program& program);
    CompileCacheStatistics statistics() const;
    void clear_memory();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// TRILANE_CACHE_DIR, else $XDG_CACHE_HOME/trilane, else ~/.cache/trilane. TRILANE_CACHE=0: no disk.
std::string cache_directory();
std::string cache_state();  // one line for `trilane info`: usable, or why not
std::string cache_key(const Program& program, const std::string& compiler_id);  // 32 hex digits

}  // namespace trilane::core
