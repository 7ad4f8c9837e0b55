// Images on disk, by key. What is stored here will run, so nothing is read that another user could
// have written: a directory of mode 0700 that we own and that is no symlink, files that we own,
// length and hash verified. Any number of processes may read and write at once.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace trilane::core {

class DiskCache {
  public:
    // Makes the directory if it can. Never throws for a directory that cannot be used.
    explicit DiskCache(std::string directory);
    ~DiskCache();
    DiskCache(const DiskCache&) = delete;
    DiskCache& operator=(const DiskCache&) = delete;

    bool usable() const { return fd_ >= 0; }
    const std::string& directory() const { return directory_; }
    const std::string& why_not() const { return why_not_; }  // empty if usable

    enum class Outcome : uint8_t { Found, Absent, Rejected };
    // Rejected: there is a file, but it is damaged or not ours.
    // An entry that is read counts as young for a day.
    Outcome read(const std::string& key, std::string& payload) const;
    // A write also removes the entries that were not read for longest if all together take more of
    // the disk than limit_bytes(), down to three quarters of it. It looks, which costs 2 us an
    // entry, in the first write of a process if no process did within the last hour, and after
    // every eighth of the limit that the process wrote.
    bool write(const std::string& key,
               std::string_view payload) const noexcept;  // false: not stored
    static constexpr uint64_t kMostBytes = uint64_t{2} << 30;
    static uint64_t limit_bytes() noexcept;  // TRILANE_CACHE_MIB, else kMostBytes

  private:
    void open_directory();
    bool claim_sweep() const;  // whether it is time, by the clock of all processes
    void sweep_if_due(size_t nbytes) const;
    void sweep() const;  // removes what interrupted writers left, and old entries if need be
    std::string directory_;
    std::string why_not_;
    int fd_ = -1;
    mutable std::mutex mutex_;
    mutable bool looked_ = false;   // guarded by `mutex_`, and so is:
    mutable uint64_t written_ = 0;  // since the last sweep of this process
};

std::string hash_hex(std::string_view bytes);  // XXH3, 128 bits, 32 hex digits

}  // namespace trilane::core
