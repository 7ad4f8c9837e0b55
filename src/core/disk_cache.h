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
    // The first write of a process also removes the oldest entries if all together are larger than
    // `kMostBytes` or TRILANE_CACHE_MIB, down to three quarters of it.
    static constexpr uint64_t kMostBytes = uint64_t{2} << 30;
    bool write(const std::string& key,
               std::string_view payload) const noexcept;  // false: not stored

  private:
    void open_directory();
    void sweep() const;  // removes what interrupted writers left, and old entries if need be
    std::string directory_;
    std::string why_not_;
    int fd_ = -1;
    mutable std::once_flag swept_;
};

std::string hash_hex(std::string_view bytes);  // XXH3, 128 bits, 32 hex digits

}  // namespace trilane::core
