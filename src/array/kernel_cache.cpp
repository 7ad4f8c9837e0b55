// Keys to loaded functions, one table per context; compilation outside of all locks.
#include "array/kernel_cache.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "array/device_headers.h"
#include "core/error.h"

namespace trilane::array {

namespace {

struct Entry {
    KernelKey key;
    core::FunctionPtr function;
};

// Open addressing, a power of two of slots, never more than half full.
class KernelTable {
  public:
    explicit KernelTable(const core::ContextPtr& context) : context(context.get()), slots_(256) {}

    core::Function* find(const KernelKey& key) {
        for (size_t i = key.hash();; ++i) {
            const Entry& entry = slots_[i & (slots_.size() - 1)];
            if (!entry.function) return nullptr;
            if (entry.key == key) return entry.function.get();
        }
    }
    core::Function& insert(const KernelKey& key, core::FunctionPtr function) {
        if (core::Function* there = find(key)) return *there;
        if ((size_ + 1) * 2 > slots_.size()) grow();
        size_t i = key.hash();
        while (slots_[i & (slots_.size() - 1)].function) ++i;
        Entry& entry = slots_[i & (slots_.size() - 1)];
        entry = {key, std::move(function)};
        ++size_;
        return *entry.function;
    }
    size_t size() const { return size_; }

    core::Context* context;
    std::mutex mutex;

  private:
    void grow() {
        std::vector<Entry> old(slots_.size() * 2);
        old.swap(slots_);
        for (Entry& entry : old) {
            if (!entry.function) continue;
            size_t i = entry.key.hash();
            while (slots_[i & (slots_.size() - 1)].function) ++i;
            slots_[i & (slots_.size() - 1)] = std::move(entry);
        }
    }
    std::vector<Entry> slots_;
    size_t size_ = 0;
};

struct Tables {
    std::mutex mutex;
    std::vector<std::unique_ptr<KernelTable>> by_context;
};

// Never destroyed: loaded modules must not go in the middle of the process's end.
Tables& tables() {
    static Tables* kTables = new Tables;
    return *kTables;
}

std::atomic<uint64_t> generation{1};  // bumped when tables are thrown away

KernelTable& table_of(const core::ContextPtr& context) {
    thread_local KernelTable* last = nullptr;
    thread_local uint64_t last_generation = 0;
    uint64_t now = generation.load(std::memory_order_acquire);
    if (last_generation == now && last->context == context.get()) return *last;
    Tables& all = tables();
    std::lock_guard lock(all.mutex);
    last = nullptr;
    for (auto& table : all.by_context)
        if (table->context == context.get()) last = table.get();
    if (!last) {
        all.by_context.push_back(std::make_unique<KernelTable>(context));
        last = all.by_context.back().get();
    }
    last_generation = now;
    return *last;
}

std::atomic<uint64_t> launches{0};
std::atomic<uint64_t> next_id{uint64_t{1} << 32};
SlowSectionHooks slow_hooks;

}  // namespace

uint64_t KernelKey::hash() const {
    uint64_t h = 0x9e3779b97f4a7c15ull;
    for (int i = 0; i < count; ++i) {
        h ^= words[i];
        h *= 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return h;
}

core::FunctionPtr compile_kernel(const core::ContextPtr& context, const KernelSource& source) {
    core::Program program;
    program.source = source.text;
    program.file_name = source.file_name;
    program.options = source.options;
    if (!source.contract) program.options.push_back("-fmad=false");
    if (source.lanes > 0) program.options.push_back("--lanes=" + std::to_string(source.lanes));
    program.headers = array_device_headers();
    SlowSection slow;
    return core::Module::compile(context, program)->function(source.entry);
}

core::Function& find_kernel(const core::ContextPtr& context, const KernelKey& key,
                            const std::function<KernelSource()>& make) {
    KernelTable& table = table_of(context);
    {
        std::lock_guard lock(table.mutex);
        if (core::Function* function = table.find(key)) return *function;
    }
    core::FunctionPtr function = compile_kernel(context, make());
    std::lock_guard lock(table.mutex);
    return table.insert(key, std::move(function));
}

uint64_t new_kernel_id() { return next_id.fetch_add(1); }
uint64_t launch_count() { return launches.load(); }

size_t kernel_cache_size() {
    Tables& all = tables();
    std::lock_guard lock(all.mutex);
    size_t size = 0;
    for (auto& table : all.by_context) size += table->size();
    return size;
}

void clear_kernel_cache() {
    Tables& all = tables();
    std::lock_guard lock(all.mutex);
    generation.fetch_add(1);
    all.by_context.clear();
}

void launch_kernel(core::Function& function, core::Dim3 grid, core::Dim3 block,
                   void* const* arguments, size_t count) {
    core::LaunchConfig config;
    config.grid = grid;
    config.block = block;
    launches.fetch_add(1, std::memory_order_relaxed);
    core::launch_packed(function, config, arguments, count);
}

void set_slow_section_hooks(SlowSectionHooks hooks) { slow_hooks = hooks; }
SlowSection::SlowSection() {
    if (slow_hooks.leave) token_ = slow_hooks.leave();
}
SlowSection::~SlowSection() {
    if (token_) slow_hooks.enter(token_);
}

}  // namespace trilane::array
