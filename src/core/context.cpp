// Contexts, and which device and stream are current in a thread.
#include "core/context.h"

#include <pthread.h>

#include "core/capture.h"
#include "core/compile_cache.h"
#include "core/env.h"
#include "core/error.h"
#include "core/foreign_memory.h"
#include "core/host_memory.h"
#include "core/memory_pool.h"
#include "core/registry.h"
#include "core/stream.h"

namespace trilane::core {

namespace {

std::atomic<uint32_t> fork_generation{0};

void watch_forks() {
    static const bool watched = [] {
        pthread_atfork(nullptr, nullptr,
                       [] { fork_generation.fetch_add(1, std::memory_order_relaxed); });
        return true;
    }();
    (void)watched;
}

// Per thread: the current device and, by device index, the stream in use. Streams of contexts that
// live as long as the process are held here, so that asking for the current one locks nothing.
struct Current {
    int device = 0;
    std::vector<StreamPtr> streams;
};

Current& current() {
    thread_local Current instance;
    return instance;
}

}  // namespace

Context::Context(std::unique_ptr<Device> device, int index)
    : device_(std::move(device)), index_(index), default_stream_id_(Stream::next_id()) {
    watch_forks();
    fork_generation_ = fork_generation.load(std::memory_order_relaxed);
    survives_fork_ = device_->properties().type != DeviceType::Cuda;
    pool_ = std::make_shared<MemoryPool>(*device_);
    host_pool_ = std::make_shared<HostMemoryPool>(*device_);
    captures_ = std::make_unique<Captures>(*this);
    foreign_ = std::make_unique<ForeignMemory>(*pool_);
    compile_cache_ = std::make_unique<CompileCache>(*device_);
    if (env_string("TRILANE_POOL") && !env_flag("TRILANE_POOL")) pool_->set_enabled(false);
}

std::shared_ptr<Context> Context::create(std::unique_ptr<Device> device, int index) {
    TRILANE_CHECK(device != nullptr, "Context::create without a device");
    return std::shared_ptr<Context>(new Context(std::move(device), index));
}

Context::~Context() {
    if (usable()) return;
    // What the parent process made on the device must not be touched from a child: it is leaked.
    compile_cache_.release();
    new std::shared_ptr<MemoryPool>(std::move(pool_));
    new std::shared_ptr<HostMemoryPool>(std::move(host_pool_));
    device_.release();
}

StreamPtr Context::default_stream() {
    std::lock_guard lock(default_stream_mutex_);
    StreamPtr stream = default_stream_.lock();
    if (stream == nullptr) {
        stream.reset(new Stream(shared_from_this(), 0, false, false, 0, default_stream_id_));
        pool_->add_stream(*stream);
        default_stream_ = stream;
    }
    return stream;
}

bool Context::usable() const noexcept {
    return survives_fork_ || fork_generation_ == fork_generation.load(std::memory_order_relaxed);
}

void Context::throw_forked(const char* who) const {
    throw_error(ErrorKind::DeviceError,
                "{}: device '{}' was opened before this process was forked, and a cuda device "
                "cannot be used in the child: start processes with the 'spawn' method "
                "(multiprocessing.set_start_method('spawn')) or use the device only after the fork",
                who, properties().name);
}

ContextPtr current_context() { return context_of(current().device); }

int current_device_index() { return current().device; }

void set_current_device(int index) {
    ContextPtr context = context_of(index);
    context->require_usable("set_current_device");
    context->device().make_current();
    current().device = index;
}

StreamPtr current_stream() {
    Current& c = current();
    const auto index = static_cast<size_t>(c.device);
    if (index < c.streams.size() && c.streams[index] != nullptr &&
        c.streams[index]->context()->kept())
        return c.streams[index];
    return current_stream(context_of(c.device));
}

StreamPtr current_stream(const ContextPtr& context) {
    Current& c = current();
    const auto index = static_cast<size_t>(context->index());
    if (index < c.streams.size() && c.streams[index] != nullptr &&
        c.streams[index]->context() == context)
        return c.streams[index];
    StreamPtr stream = context->default_stream();
    if (context->kept()) {
        if (c.streams.size() <= index) c.streams.resize(index + 1);
        c.streams[index] = stream;
    }
    return stream;
}

void set_current_stream(const StreamPtr& stream) {
    TRILANE_CHECK(stream != nullptr, "set_current_stream of a null stream");
    Current& c = current();
    const auto index = static_cast<size_t>(stream->context()->index());
    if (c.streams.size() <= index) c.streams.resize(index + 1);
    c.streams[index] = stream;
}

void forget_current_for_tests() { current() = Current{}; }

}  // namespace trilane::core
