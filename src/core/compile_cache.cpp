// Program -> Image: memory, then disk, then the device's compiler; one compile per program at a
// time.
#include "core/compile_cache.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/background.h"
#include "core/disk_cache.h"
#include "core/env.h"
#include "core/error.h"
#include "core/program_dump.h"

namespace trilane::core {
namespace {

constexpr size_t kMostMemoryBytes = size_t{256} << 20;
constexpr std::chrono::milliseconds kPollEvery{50};

// Length before content, so that no two lists of fields hash alike.
class KeyHasher {
  public:
    KeyHasher() { XXH3_128bits_reset(&state_); }
    void add(std::string_view text) {
        add_count(text.size());
        XXH3_128bits_update(&state_, text.data(), text.size());
    }
    void add_count(uint64_t count) { XXH3_128bits_update(&state_, &count, sizeof count); }
    std::string hex() const {
        const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
        return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
    }

  private:
    XXH3_state_t state_;
};

bool names_files(std::string_view option) {
    return option.starts_with("-I") || option.starts_with("-include") ||
           option.starts_with("-isystem") || option.starts_with("--include") ||
           option.starts_with("--pre-include");
}

// nullopt if it cannot be read.
std::optional<std::string> hash_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    if (file.bad()) return std::nullopt;
    return hash_hex(text);
}

bool files_unchanged(const Image& image) {
    for (const auto& [path, hash] : image.files)
        if (hash_of_file(path) != hash) return false;
    return true;
}

// False if a file that the compiler read is gone: the image is good, but not for keeping.
bool fill_in_hashes(Image& image) {
    for (auto& [path, hash] : image.files) {
        const auto now = hash_of_file(path);
        if (!now) return false;
        hash = *now;
    }
    return true;
}

bool disk_enabled() { return !env_string("TRILANE_CACHE") || env_flag("TRILANE_CACHE"); }

// One subject per directory; the version in the name lets formats change.
std::string image_directory() {
    if (!disk_enabled()) return {};
    const std::string base = cache_directory();
    return base.empty() ? std::string() : base + "/images-2";
}

// What the caches of all devices have at hand: devices of one kind load the same image. It keeps
// nothing alive.
class CommonImages {
  public:
    static CommonImages& get() {
        static CommonImages* const instance = new CommonImages;  // never destroyed: see registry
        return *instance;
    }
    ImagePtr find(const std::string& key, const void* asker) {
        std::lock_guard lock(mutex_);
        const auto found = images_.find(key);
        return found == images_.end() || found->second.owner == asker ? nullptr
                                                                      : found->second.image.lock();
    }
    void add(const std::string& key, const ImagePtr& image, const void* owner) {
        std::lock_guard lock(mutex_);
        images_.insert_or_assign(key, Row{image, owner});
        if (images_.size() < sweep_at_) return;
        std::erase_if(images_, [](const auto& item) { return item.second.image.expired(); });
        sweep_at_ = 2 * images_.size() + 64;
    }

  private:
    struct Row {
        std::weak_ptr<const Image> image;
        const void* owner;
    };
    std::mutex mutex_;
    std::unordered_map<std::string, Row> images_;
    size_t sweep_at_ = 64;
};

struct Entry {
    bool ready = false;
    ImagePtr image;  // null while compiling and after a failure
    std::exception_ptr failure;
};

}  // namespace

struct CompileCache::Impl {
    explicit Impl(Device& d) : device(d) {}
    ~Impl() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return in_background == 0; });
    }

    Device& device;
    std::mutex mutex;
    std::condition_variable changed;
    std::unordered_map<std::string, std::shared_ptr<Entry>> entries;
    std::deque<std::string> ages;  // keys of ready entries, oldest first
    size_t memory_bytes = 0;
    size_t in_background = 0;  // threads that use this
    CompileCacheStatistics stats;
    std::once_flag disk_opened, compiler_asked;
    std::unique_ptr<DiskCache> disk_cache;
    std::string compiler_id;

    DiskCache& disk() {
        std::call_once(disk_opened,
                       [&] { disk_cache = std::make_unique<DiskCache>(image_directory()); });
        return *disk_cache;
    }

    const std::string& compiler() {
        std::call_once(compiler_asked, [&] { compiler_id = device.compiler_id(); });
        return compiler_id;
    }

    void count(uint64_t CompileCacheStatistics::* member, uint64_t by = 1) {
        std::lock_guard lock(mutex);
        stats.*member += by;
    }

    ImagePtr from_disk(const std::string& key) {
        std::string payload;
        switch (disk().read(key, payload)) {
            case DiskCache::Outcome::Absent:
                return nullptr;
            case DiskCache::Outcome::Rejected:
                break;
            case DiskCache::Outcome::Found:
                try {
                    auto image = std::make_shared<Image>(parse_image(payload));
                    if (!files_unchanged(*image)) return nullptr;  // outdated, not damaged
                    count(&CompileCacheStatistics::disk_hits);
                    return image;
                } catch (const Error&) {
                }
        }
        count(&CompileCacheStatistics::disk_rejects);
        return nullptr;
    }

    // `keep`: false if the image must not be used for another request.
    ImagePtr compile(const Program& program, const std::string& key, bool& keep) {
        const auto start = std::chrono::steady_clock::now();
        auto image = std::make_shared<Image>(device.compile(program));
        const auto spent = std::chrono::steady_clock::now() - start;
        keep = fill_in_hashes(*image);
        {
            std::lock_guard lock(mutex);
            ++stats.compiled;
            stats.compile_ns += static_cast<uint64_t>(
                std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
        }
        if (keep && disk().usable() && disk().write(key, serialize_image(*image)))
            count(&CompileCacheStatistics::disk_writes);
        return image;
    }

    // Makes the entry ready. An image that is not kept, or a failure, is for those who wait now.
    void settle(const std::string& key, const std::shared_ptr<Entry>& entry, ImagePtr image,
                std::exception_ptr failure, bool keep) {
        std::lock_guard lock(mutex);
        if (!keep) forget(key, entry);
        if (keep && image != nullptr) CommonImages::get().add(key, image, this);
        entry->image = std::move(image);
        entry->failure = std::move(failure);
        entry->ready = true;
        if (keep) remember(key, *entry->image);
        changed.notify_all();
    }

    void produce(const Program& program, const std::string& key,
                 const std::shared_ptr<Entry>& entry) {
        bool keep = true;
        ImagePtr image;
        std::exception_ptr failure;
        try {
            image = compile(program, key, keep);
        } catch (...) {
            failure = std::current_exception();
            keep = false;
        }
        settle(key, entry, std::move(image), std::move(failure), keep);
    }

    // False if it has to be done here.
    bool start(const Program& program, const std::string& key,
               const std::shared_ptr<Entry>& entry) {
        {
            std::lock_guard lock(mutex);
            ++in_background;
        }
        auto done = [this] {
            std::lock_guard lock(mutex);
            --in_background;
            changed.notify_all();
        };
        const bool started = run_in_background([this, program, key, entry, done] {
            produce(program, key, entry);
            done();
        });
        if (!started) done();
        return started;
    }

    // Until the entry is ready. `lock` is on `mutex`; not held while poll_wait() may leave.
    void await(std::unique_lock<std::mutex>& lock, const Entry& entry) {
        auto ready = [&] { return entry.ready; };
        if (entry.ready) return;
        if (!wait_may_be_left()) return changed.wait(lock, ready);
        while (!changed.wait_for(lock, kPollEvery, ready)) {
            lock.unlock();
            poll_wait();
            lock.lock();
        }
    }

    // `mutex` is held.
    void forget(const std::string& key, const std::shared_ptr<Entry>& entry) {
        auto found = entries.find(key);
        if (found == entries.end() || found->second != entry) return;
        if (entry->image != nullptr) memory_bytes -= entry->image->bytes.size();
        entries.erase(found);
    }

    // `mutex` is held.
    void remember(const std::string& key, const Image& image) {
        memory_bytes += image.bytes.size();
        ages.push_back(key);
        while (memory_bytes > kMostMemoryBytes && ages.size() > 1) {
            auto oldest = entries.find(ages.front());
            if (oldest != entries.end() && oldest->second->ready)
                forget(ages.front(), std::shared_ptr<Entry>(oldest->second));
            ages.pop_front();
        }
    }

    // The image if it is known; else nullptr and a new entry, which the caller must make ready.
    ImagePtr find(const std::string& key, std::shared_ptr<Entry>& entry) {
        std::unique_lock lock(mutex);
        while (true) {
            auto found = entries.find(key);
            if (found == entries.end()) break;
            entry = found->second;
            const bool waited = !entry->ready;
            await(lock, *entry);
            if (entry->failure) std::rethrow_exception(entry->failure);
            bool good = true;
            if (!waited && !entry->image->files.empty()) {
                lock.unlock();
                good = files_unchanged(*entry->image);
                lock.lock();
            }
            if (good) {
                ++stats.memory_hits;
                return entry->image;
            }
            forget(key, entry);
        }
        entry = std::make_shared<Entry>();
        entries.emplace(key, entry);
        return nullptr;
    }
};

CompileCache::CompileCache(Device& device) : impl_(std::make_unique<Impl>(device)) {}
CompileCache::~CompileCache() = default;

ImagePtr CompileCache::get(const Program& program) {
    Impl& p = *impl_;
    const std::string key = cache_key(program, p.compiler());
    std::shared_ptr<Entry> entry;
    if (ImagePtr known = p.find(key, entry)) return known;
    try {
        if (ImagePtr image = CommonImages::get().find(key, &p);
            image != nullptr && files_unchanged(*image)) {
            p.count(&CompileCacheStatistics::memory_hits);
            p.settle(key, entry, image, nullptr, true);
            return image;
        }
        dump_program(program, key);
        if (ImagePtr image = p.from_disk(key)) {
            p.settle(key, entry, image, nullptr, true);
            return image;
        }
        if (!wait_may_be_left() || !p.start(program, key, entry)) p.produce(program, key, entry);
    } catch (...) {  // others wait for the entry
        p.settle(key, entry, nullptr, std::current_exception(), false);
        throw;
    }
    std::unique_lock lock(p.mutex);
    p.await(lock, *entry);
    if (entry->failure) std::rethrow_exception(entry->failure);
    return entry->image;
}

CompileCacheStatistics CompileCache::statistics() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->stats;
}

void CompileCache::clear_memory() {
    std::lock_guard lock(impl_->mutex);
    std::erase_if(impl_->entries, [](const auto& item) { return item.second->ready; });
    impl_->ages.clear();
    impl_->memory_bytes = 0;
}

std::string cache_directory() {
    if (const auto chosen = env_string("TRILANE_CACHE_DIR"); chosen && !chosen->empty()) {
        std::error_code error;
        const auto absolute = std::filesystem::absolute(*chosen, error);
        return error ? *chosen : absolute.lexically_normal().string();
    }
    if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && xdg[0] == '/')
        return std::string(xdg) + "/trilane";
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        return std::string(home) + "/.cache/trilane";
    return {};
}

std::string cache_state() {
    if (!disk_enabled()) return "memory only: TRILANE_CACHE switches the disk off";
    const std::string directory = image_directory();
    if (directory.empty()) return "memory only: neither TRILANE_CACHE_DIR nor HOME is set";
    const DiskCache disk(directory);
    if (!disk.usable()) return "memory only: " + disk.why_not();
    if (::access(directory.c_str(), W_OK) != 0) return "read only: " + directory;
    return "usable: " + directory;
}

std::string cache_key(const Program& program, const std::string& compiler_id) {
    KeyHasher hasher;
    hasher.add("trilane " TRILANE_VERSION);
    hasher.add(compiler_id);
    hasher.add(program.source);
    hasher.add(program.file_name);
    hasher.add_count(program.options.size());
    bool files = false;
    for (const std::string& option : program.options) {
        hasher.add(option);
        files = files || names_files(option);
    }
    hasher.add_count(program.headers.size());
    for (const Header& header : program.headers) {
        hasher.add(header.name);
        hasher.add(header.text);
    }
    hasher.add_count(program.name_expressions.size());
    for (const std::string& name : program.name_expressions) hasher.add(name);
    if (files) {  // relative folders mean others when the program is elsewhere
        std::error_code ignored;
        hasher.add(std::filesystem::current_path(ignored).string());
    }
    return hasher.hex();
}

}  // namespace trilane::core
