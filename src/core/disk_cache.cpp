// Images on disk: a header (magic word, key, length, hash), then the payload.
#include "core/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "core/env.h"
#include "core/error.h"

namespace trilane::core {
namespace {

constexpr char kMagic[8] = {'T', 'R', 'L', 'C', 'A', 'C', 'H', '2'};
constexpr uint64_t kMostEntryBytes = uint64_t{1} << 30;
constexpr const char* kSuffix = ".image";
constexpr const char* kTemporary = ".new-";
constexpr const char* kSweepStamp = ".swept";  // its time is that of the last sweep
constexpr time_t kSweepSeconds = 3600, kStaleSeconds = 3600, kDay = 86400;

struct Header {
    char magic[8];
    char key[32];
    uint64_t payload_bytes;
    char hash[32];
};
static_assert(sizeof(Header) == 80);

class File {
  public:
    explicit File(int fd) : fd_(fd) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    bool good() const { return fd_ >= 0; }
    int fd() const { return fd_; }
    // Errors of delayed writes show up here.
    bool close_now() { return ::close(std::exchange(fd_, -1)) == 0; }

  private:
    int fd_;
};

bool read_all(int fd, void* into, size_t nbytes) {
    auto* p = static_cast<char*>(into);
    while (nbytes > 0) {
        const ssize_t got = ::read(fd, p, nbytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        p += got;
        nbytes -= static_cast<size_t>(got);
    }
    return true;
}

bool write_all(int fd, const void* from, size_t nbytes) {
    const auto* p = static_cast<const char*>(from);
    while (nbytes > 0) {
        const ssize_t put = ::write(fd, p, nbytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        p += put;
        nbytes -= static_cast<size_t>(put);
    }
    return true;
}

bool is_key(const std::string& key) {
    return key.size() == 32 && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::string hash_hex(std::string_view bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

uint64_t DiskCache::limit_bytes() noexcept {
    try {
        const long long mib = env_int("TRILANE_CACHE_MIB", 0);
        if (mib > 0) return static_cast<uint64_t>(mib) << 20;
    } catch (...) {  // nonsense in the variable: the cache is never an error
    }
    return kMostBytes;
}

DiskCache::DiskCache(std::string directory) : directory_(std::move(directory)) {
    if (directory_.empty()) {
        why_not_ = "switched off";
        return;
    }
    open_directory();
}

DiskCache::~DiskCache() {
    if (fd_ >= 0) ::close(fd_);
}

void DiskCache::open_directory() {
    std::error_code ignored;
    const std::filesystem::path path(directory_);
    if (!path.is_absolute()) {
        why_not_ = fmt::format("{}: not an absolute path", directory_);
        return;
    }
    std::filesystem::create_directories(path.parent_path(), ignored);
    if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
        why_not_ = fmt::format("{}: {}", directory_, std::strerror(errno));
        return;
    }
    File dir(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!dir.good() || ::fstat(dir.fd(), &status) != 0) {
        why_not_ = fmt::format("{}: {}", directory_, std::strerror(errno));
    } else if (status.st_uid != ::geteuid()) {
        why_not_ = fmt::format("{}: owned by user {}, expected {}", directory_, status.st_uid,
                               ::geteuid());
    } else if ((status.st_mode & 077) != 0) {
        why_not_ = fmt::format("{}: mode {:o}, expected 700: others could read or change it",
                               directory_, status.st_mode & 0777);
    } else {
        fd_ = ::dup(dir.fd());
        if (fd_ < 0)
            why_not_ = fmt::format("{}: {}", directory_, std::strerror(errno));
        else
            ::fcntl(fd_, F_SETFD, FD_CLOEXEC);
    }
}

DiskCache::Outcome DiskCache::read(const std::string& key, std::string& payload) const {
    if (!usable() || !is_key(key)) return Outcome::Absent;
    const std::string name = key + kSuffix;
    File file(::openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.good()) return errno == ENOENT ? Outcome::Absent : Outcome::Rejected;
    struct stat status{};
    if (::fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid() || (status.st_mode & 022) != 0)
        return Outcome::Rejected;
    const auto file_bytes = static_cast<uint64_t>(status.st_size);
    Header header;
    if (file_bytes < sizeof header || file_bytes > kMostEntryBytes ||
        !read_all(file.fd(), &header, sizeof header) ||
        std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 ||
        std::memcmp(header.key, key.data(), sizeof header.key) != 0 ||
        header.payload_bytes != file_bytes - sizeof header)
        return Outcome::Rejected;
    std::string bytes(header.payload_bytes, '\0');
    if (!read_all(file.fd(), bytes.data(), bytes.size())) return Outcome::Rejected;
    if (hash_hex(bytes).compare(0, 32, header.hash, 32) != 0) return Outcome::Rejected;
    if (status.st_mtime + kDay < ::time(nullptr)) ::futimens(file.fd(), nullptr);
    payload = std::move(bytes);
    return Outcome::Found;
}

bool DiskCache::write(const std::string& key, std::string_view payload) const noexcept try {
    if (!usable() || !is_key(key) || payload.size() > kMostEntryBytes - sizeof(Header))
        return false;
    sweep_if_due(payload.size());
    static std::atomic<uint64_t> serial{0};
    const std::string temporary =
        fmt::format("{}{}-{}-{}", kTemporary, ::getpid(), serial.fetch_add(1), key);
    Header header;
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    std::memcpy(header.key, key.data(), sizeof header.key);
    header.payload_bytes = payload.size();
    std::memcpy(header.hash, hash_hex(payload).data(), sizeof header.hash);
    File file(::openat(fd_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       0600));
    if (!file.good()) return false;
    const bool written = write_all(file.fd(), &header, sizeof header) &&
                         write_all(file.fd(), payload.data(), payload.size()) && file.close_now();
    const std::string name = key + kSuffix;
    if (written && ::renameat(fd_, temporary.c_str(), fd_, name.c_str()) == 0) return true;
    ::unlinkat(fd_, temporary.c_str(), 0);
    return false;
} catch (...) {
    return false;  // no memory for the names: the cache is a convenience
}

bool DiskCache::claim_sweep() const {
    struct stat status{};
    if (::fstatat(fd_, kSweepStamp, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        std::abs(::time(nullptr) - status.st_mtime) < kSweepSeconds)
        return false;
    // Set before the work: processes that start meanwhile leave it to this one.
    File stamp(
        ::openat(fd_, kSweepStamp, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
    if (stamp.good()) ::futimens(stamp.fd(), nullptr);
    return true;
}

void DiskCache::sweep_if_due(size_t nbytes) const {
    std::lock_guard lock(mutex_);
    written_ += nbytes;
    const bool much = written_ > limit_bytes() / 8;
    const bool first = !std::exchange(looked_, true);
    if (!much && !(first && claim_sweep())) return;
    written_ = 0;
    sweep();
}

void DiskCache::sweep() const {
    struct Old {
        time_t time;
        uint64_t nbytes;
        std::string name;
    };
    const int copy = ::openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return;
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(copy), ::closedir);
    if (dir == nullptr) {
        ::close(copy);
        return;
    }
    std::vector<Old> entries;
    uint64_t total = 0;
    const time_t now = ::time(nullptr);
    while (const dirent* entry = ::readdir(dir.get())) {
        struct stat status{};
        if (::fstatat(fd_, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        const std::string_view name = entry->d_name;
        if (name.starts_with(kTemporary)) {
            if (status.st_mtime + kStaleSeconds < now) ::unlinkat(fd_, entry->d_name, 0);
        } else if (name.ends_with(kSuffix)) {
            const auto nbytes = static_cast<uint64_t>(status.st_blocks) * 512;
            total += nbytes;
            entries.push_back({status.st_mtime, nbytes, std::string(name)});
        }
    }
    const uint64_t most = limit_bytes();
    if (total <= most) return;
    std::sort(entries.begin(), entries.end(),
              [](const Old& a, const Old& b) { return a.time < b.time; });
    for (const Old& entry : entries) {
        if (total <= most / 4 * 3) break;
        if (::unlinkat(fd_, entry.name.c_str(), 0) == 0) total -= entry.nbytes;
    }
}

}  // namespace trilane::core
