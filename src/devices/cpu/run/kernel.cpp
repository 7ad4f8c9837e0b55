// Launches: blocks given out to threads, small ones kept on the caller's.
#include "devices/cpu/run/kernel.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <span>

#include "core/error.h"
#include "core/interrupt.h"
#include "devices/cpu/run/fault.h"
#include "devices/cpu/run/pool.h"
#include "devices/cpu/run/worker.h"

namespace trilane::cpu {

namespace {

thread_local BlockContext* running = nullptr;

uint64_t now_ns() { return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()); }

// Worth waking others: waking and waiting costs about this much.
constexpr uint64_t kWorthWakingNs = 20000;
// Blocks side by side per thread when blocks wait for one another, unless all must be there: as
// many as fit into this much memory, more than a GPU holds.
constexpr size_t kResidentBytes = size_t{256} << 20;
constexpr size_t kLeastResidentBlocks = 64;

}  // namespace

BlockContext* current_context() { return running; }
void set_current_context(BlockContext* context) { running = context; }

namespace {

std::deque<ResidentBlock>& resident_blocks() {
    static thread_local std::deque<ResidentBlock> blocks;
    return blocks;
}

}  // namespace

ResidentBlock& resident_block(size_t index) {
    std::deque<ResidentBlock>& blocks = resident_blocks();
    while (blocks.size() <= index) blocks.emplace_back();
    return blocks[index];
}

void trim_resident_blocks(size_t count) {
    std::deque<ResidentBlock>& blocks = resident_blocks();
    while (blocks.size() > count) blocks.pop_back();
}

Arena::~Arena() {
    if (memory_ != nullptr) munmap(memory_, nbytes_);
}

uint8_t* Arena::reserve(size_t nbytes) {
    if (nbytes <= nbytes_) return memory_;
    if (memory_ != nullptr) munmap(memory_, nbytes_);
    memory_ = nullptr;
    nbytes_ = 0;
    size_t rounded = (nbytes + 4095) / 4096 * 4096;
    void* memory =
        mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        core::throw_error(core::ErrorKind::OutOfMemory,
                          "launch: {} bytes for a block's threads: no memory", rounded);
    memory_ = static_cast<uint8_t*>(memory);
    nbytes_ = rounded;
    return memory_;
}

void PrintBuffer::add(uint64_t block, std::string_view text) {
    std::lock_guard lock(mutex_);
    nbytes_ += text.size();
    if (!parts_.empty() && parts_.back().first == block)
        parts_.back().second += text;
    else
        parts_.emplace_back(block, text);
}

void PrintBuffer::flush(const std::function<void(std::string_view)>& print) {
    std::lock_guard lock(mutex_);
    if (parts_.empty()) return;
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (const auto& part : parts_) text += part.second;
    parts_.clear();
    nbytes_ = 0;
    if (print) print(text);
}

bool LaunchQueue::add(uint64_t block, QueuedLaunch launch) {
    std::lock_guard lock(mutex_);
    if (parts_.size() >= kLimit) return false;
    parts_.emplace_back(block, std::move(launch));
    return true;
}

std::vector<QueuedLaunch> LaunchQueue::take() {
    std::lock_guard lock(mutex_);
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<QueuedLaunch> launches;
    for (auto& part : parts_) launches.push_back(std::move(part.second));
    parts_.clear();
    return launches;
}

void LaunchState::fail(core::Error error) {
    std::lock_guard lock(failure_mutex);
    if (!failure) failure = std::move(error);
    failed.store(true);
}

core::Dim3 thread_of(const BlockContext& context) {
    uint32_t x = context.block_dim[0], y = context.block_dim[1];
    return {context.thread_linear % x, context.thread_linear / x % y,
            context.thread_linear / x / y};
}

uint64_t linear_block(const BlockContext& context) {
    return (uint64_t{context.block_idx[2]} * context.grid_dim[1] + context.block_idx[1]) *
               context.grid_dim[0] +
           context.block_idx[0];
}

std::string describe_place(const BlockContext& context) {
    core::Dim3 thread = thread_of(context);
    return fmt::format("block ({},{},{}), thread ({},{},{})", context.block_idx[0],
                       context.block_idx[1], context.block_idx[2], thread.x, thread.y, thread.z);
}

namespace {

struct SignalMeaning {
    core::FaultCode code;
    const char* text;
};

SignalMeaning meaning_of(int signal) {
    switch (signal) {
        case SIGFPE:
            return {core::FaultCode::LaunchFailure, "arithmetic fault"};
        case SIGILL:
            return {core::FaultCode::IllegalInstruction, "illegal instruction"};
        case SIGBUS:
            return {core::FaultCode::IllegalAddress, "bus error"};
        default:
            return {core::FaultCode::IllegalAddress, "illegal memory access"};
    }
}

core::Error error_of_signal(const LaunchState& launch, const BlockContext& context,
                            const Fault& fault) {
    const SignalMeaning meaning = meaning_of(fault.signal);
    // The machine does not tell addresses that no pointer can have.
    std::string at = fault.address != nullptr ? fmt::format(" at address {}", fault.address) : "";
    std::string block = std::to_string(context.block_idx[0]);
    if (context.block_dim[0] == launch.block.x && launch.fold > 1) {
        const uint64_t first = uint64_t{context.block_idx[0]} * launch.fold;
        block = fmt::format("{} to {}", first, first + launch.fold - 1);
    }
    return {meaning.code,
            fmt::format("{}: {}{} in block ({},{},{}): set TRILANE_CHECK=1 to learn which thread "
                        "and source line",
                        launch.kernel->readable_name, meaning.text, at, block, context.block_idx[1],
                        context.block_idx[2])};
}

bool runs_side_by_side(const LoweredKernel& kernel) {
    return kernel.waits_on_blocks || kernel.grid_sync || kernel.meets_cluster;
}

// One thread's part of a launch.
class Participant {
  public:
    explicit Participant(LaunchState& launch) : launch_(launch), kernel_(*launch.kernel) {}

    // `offer` is asked after each of the caller's own chunks whether to wake others.
    template <typename Offer>
    void run(Offer offer) {
        struct Call {
            Participant* self;
            Offer* offer;
        } call{this, &offer};
        Fault fault;
        KnockHere knocks(launch_.wait);
        try {
            bool fine = run_guarded(
                [](void* argument) {
                    auto* call = static_cast<Call*>(argument);
                    call->self->blocks(*call->offer);
                },
                &call, fault, kernel_.code, launch_.wait);
            if (!fine && fault.stopped) {
                launch_.interrupt();
            } else if (!fine) {
                bool aborted = fault.signal == 0;
                launch_.fail(aborted || running == nullptr
                                 ? core::Error(fault.code, fault.message)
                                 : error_of_signal(launch_, *running, fault));
            }
        } catch (const core::Error& error) {
            launch_.fail(error);
        } catch (const std::exception& error) {
            launch_.fail({core::ErrorKind::Internal, error.what()});
        }
        running = nullptr;
        trim_resident_blocks(kLeastResidentBlocks);
    }

  private:
    void prepare(ResidentBlock& block) {
        BlockContext& context = block.context;
        size_t shared = kernel_.dynamic_offset() + launch_.dynamic_shared;
        context.shared = block.shared.reserve(shared + 64);
        context.grid_dim[0] = launch_.grid.x;
        context.grid_dim[1] = launch_.grid.y;
        context.grid_dim[2] = launch_.grid.z;
        context.block_dim[0] = launch_.block.x;
        context.block_dim[1] = launch_.block.y;
        context.block_dim[2] = launch_.block.z;
        context.dynamic_shared_bytes = uint32_t(launch_.dynamic_shared);
        context.arguments = launch_.arguments;
        context.launch = &launch_;
        context.run = nullptr;
        context.cluster_dim[0] = launch_.cluster.x;
        context.cluster_dim[1] = launch_.cluster.y;
        context.cluster_dim[2] = launch_.cluster.z;
        context.cluster = nullptr;
        if (kernel_.lowered.scratch_bytes > 0) {
            // Behind shared memory as caches see it: lines of both at the same offset in a page
            // would push one another out.
            const size_t gap = (shared + 63) / 64 * 64 % 4096;
            const size_t threads = (launch_.block.count() + 63) / 64 * 64;
            context.scratch =
                block.frames.reserve(gap + threads * kernel_.lowered.scratch_bytes) + gap;
        }
    }

    void place(BlockContext& context, uint64_t index) {
        context.block_idx[0] = uint32_t(index % launch_.grid.x);
        uint64_t rest = index / launch_.grid.x;
        context.block_idx[1] = uint32_t(rest % launch_.grid.y);
        context.block_idx[2] = uint32_t(rest / launch_.grid.y);
    }

    // Block `rank` of cluster `number`.
    void place_in_cluster(BlockContext& context, uint64_t number, uint32_t rank) {
        const core::Dim3 &cluster = launch_.cluster, &grid = launch_.grid;
        const uint32_t wide = grid.x / cluster.x, high = grid.y / cluster.y;
        context.block_idx[0] = uint32_t(number % wide) * cluster.x + rank % cluster.x;
        context.block_idx[1] =
            uint32_t(number / wide % high) * cluster.y + rank / cluster.x % cluster.y;
        context.block_idx[2] =
            uint32_t(number / wide / high) * cluster.z + rank / cluster.x / cluster.y;
    }

    void advance(BlockContext& context) {
        if (++context.block_idx[0] < launch_.grid.x) return;
        context.block_idx[0] = 0;
        if (++context.block_idx[1] < launch_.grid.y) return;
        context.block_idx[1] = 0;
        ++context.block_idx[2];
    }

    template <typename Offer>
    void blocks(Offer& offer) {
        if (runs_side_by_side(kernel_.lowered)) return side_by_side(offer);
        ResidentBlock& block = resident_block(0);
        prepare(block);
        running = &block.context;
        auto loop = reinterpret_cast<BlockFunction>(kernel_.entry);
        bool coroutine = kernel_.lowered.shape == BlockShape::Coroutine;
        if (coroutine) reserve_frames(block);
        while (!launch_.ended()) {
            uint64_t chunk = launch_.chunk.load(std::memory_order_relaxed);
            uint64_t first = launch_.next_block.fetch_add(chunk, std::memory_order_relaxed);
            if (first >= launch_.blocks) break;
            uint64_t last = std::min(first + chunk, launch_.blocks);
            place(block.context, first);
            for (uint64_t index = first; index < last; ++index) {
                if (launch_.ended()) return;
                if (coroutine)
                    run_alone(block);
                else if (launch_.rest != 0 && block.context.block_idx[0] == launch_.grid.x - 1)
                    run_rest(block.context, loop);
                else
                    loop(&block.context);
                advance(block.context);
            }
            offer();
        }
    }

    // What is left of a row, block by block as it was launched.
    void run_rest(BlockContext& context, BlockFunction loop) {
        const uint32_t first = (launch_.grid.x - 1) * launch_.fold;
        context.block_dim[0] = launch_.block.x / launch_.fold;
        for (uint32_t i = 0; i < launch_.rest && !launch_.ended(); ++i) {
            context.block_idx[0] = first + i;
            loop(&context);
        }
        context.block_dim[0] = launch_.block.x;
        context.block_idx[0] = launch_.grid.x - 1;
    }

    void reserve_frames(ResidentBlock& block) {
        block.frames.reserve(launch_.block.count() * BlockRun::stride(kernel_));
    }

    void run_alone(ResidentBlock& block) {
        block.run.start(kernel_, block.context, block.frames.reserve(0));
        while (block.run.run() != BlockRun::State::Done)
            if (launch_.ended()) return;
    }

    // The next cluster, whose blocks know one another before any of them starts.
    bool start_next(std::span<ResidentBlock* const> blocks) {
        uint64_t index = launch_.next_block.fetch_add(blocks.size(), std::memory_order_relaxed);
        if (index >= launch_.blocks) return false;
        ClusterRun& cluster = blocks[0]->cluster;
        cluster.contexts.clear();
        cluster.blocks.clear();
        cluster.residents.assign(blocks.begin(), blocks.end());
        cluster.unfinished = uint32_t(blocks.size());
        cluster.phase = 0;
        for (uint32_t rank = 0; rank < blocks.size(); ++rank) {
            ResidentBlock& block = *blocks[rank];
            prepare(block);
            reserve_frames(block);
            place_in_cluster(block.context, index / blocks.size(), rank);
            block.context.cluster = &cluster;
            cluster.contexts.push_back(&block.context);
            cluster.blocks.push_back(&block.run);
        }
        for (ResidentBlock* block : blocks) {
            running = &block->context;
            block->run.start(kernel_, block->context, block->frames.reserve(0));
        }
        return true;
    }

    // Nobody of a cluster has moved in a whole round: nobody ever will.
    void find_deadlock(std::span<ResidentBlock* const> blocks) {
        for (ResidentBlock* block : blocks) {
            const ClusterRun& cluster = *block->context.cluster;
            if (std::none_of(cluster.blocks.begin(), cluster.blocks.end(),
                             [](const BlockRun* run) { return run->moved(); }))
                block->run.report_deadlock();
        }
    }

    // Blocks that wait for others: when the ones here only wait, one more cluster is started.
    template <typename Offer>
    void side_by_side(Offer& offer) {
        std::vector<ResidentBlock*>& active = active_blocks();
        active.clear();
        size_t per_block = launch_.block.count() * BlockRun::stride(kernel_) +
                           kernel_.dynamic_offset() + launch_.dynamic_shared;
        size_t limit = launch_.cooperative
                           ? SIZE_MAX
                           : std::max(kLeastResidentBlocks, kResidentBytes / per_block);
        bool more = true;
        for (size_t used = 0; !launch_.ended();) {
            bool moved = false;
            for (size_t i = 0; i < active.size();) {
                if (launch_.ended()) return;
                ResidentBlock& block = *active[i];
                running = &block.context;
                if (block.run.run() == BlockRun::State::Done) {
                    launch_.blocks_done.fetch_add(1);
                    end_block(block);
                    active[i] = active.back();
                    active.pop_back();
                    moved = true;
                } else {
                    ++i;
                }
            }
            if (more && active.size() < limit) {
                std::vector<ResidentBlock*>& next = next_blocks();
                next.clear();
                while (next.size() < launch_.cluster.count()) next.push_back(take_block(used));
                more = start_next(next);
                std::vector<ResidentBlock*>& to = more ? active : free_blocks();
                to.insert(to.end(), next.begin(), next.end());
                if (more) offer();
                moved |= more;
            }
            if (active.empty() && !more) break;
            if (!moved && kernel_.lowered.meets_cluster) find_deadlock(active);
            if (!moved) sched_yield();  // what is waited for runs elsewhere
        }
        free_blocks().clear();
    }

    // Kept per thread, since a fault leaves this function without destructors.
    static std::vector<ResidentBlock*>& active_blocks() {
        static thread_local std::vector<ResidentBlock*> active;
        return active;
    }
    static std::vector<ResidentBlock*>& free_blocks() {
        static thread_local std::vector<ResidentBlock*> free;
        return free;
    }
    static std::vector<ResidentBlock*>& next_blocks() {
        static thread_local std::vector<ResidentBlock*> next;
        return next;
    }
    // Others of its cluster may still read what it left in shared memory.
    void end_block(ResidentBlock& block) {
        ClusterRun& cluster = *block.context.cluster;
        if (--cluster.unfinished > 0) return;
        free_blocks().insert(free_blocks().end(), cluster.residents.begin(),
                             cluster.residents.end());
    }
    ResidentBlock* take_block(size_t& used) {
        if (used == 0) free_blocks().clear();
        if (!free_blocks().empty()) {
            ResidentBlock* block = free_blocks().back();
            free_blocks().pop_back();
            return block;
        }
        return &resident_block(used++);
    }

    LaunchState& launch_;
    const LoadedKernel& kernel_;
};

class LaunchJob : public PoolJob {
  public:
    explicit LaunchJob(LaunchState& launch) : launch_(launch) {}

    void run() {
        if (launch_.blocks == 1) {
            Participant(launch_).run([] {});
            return;
        }
        const LoadedKernel& kernel = *launch_.kernel;
        uint64_t known = kernel.block_ns.load(std::memory_order_relaxed);
        bool side_by_side = runs_side_by_side(kernel.lowered);
        if (known == 0 || side_by_side || known * launch_.fold * launch_.blocks > kWorthWakingNs)
            publish();
        uint64_t start = now_ns(), first = launch_.next_block.load();
        bool measured = false;
        Participant(launch_).run([&] {
            if (measured && published_) return;
            uint64_t done = launch_.next_block.load(std::memory_order_relaxed);
            uint64_t elapsed = now_ns() - start;
            if (!measured) {
                uint64_t mine = std::max<uint64_t>(1, std::min(done, launch_.chunk.load()));
                kernel.block_ns.store(std::max<uint64_t>(1, elapsed / mine / launch_.fold),
                                      std::memory_order_relaxed);
                measured = true;
            }
            if (published_ || done >= launch_.blocks) return;
            uint64_t left = launch_.blocks - done;
            if (elapsed / std::max<uint64_t>(1, done - first) * left > kWorthWakingNs)
                publish();
            else
                launch_.chunk.store(std::clamp<uint64_t>(left / 8, 1, 64));
        });
        if (published_) ThreadPool::get().retire(*this);
    }

    void help() noexcept override {
        Participant(launch_).run([] {});
    }

  private:
    void publish() {
        ThreadPool& pool = ThreadPool::get();
        uint64_t left = launch_.blocks - launch_.next_block.load();
        launch_.chunk.store(std::max<uint64_t>(1, left / (uint64_t(pool.threads()) * 8)));
        published_ = true;
        pool.publish(*this);
    }

    LaunchState& launch_;
    bool published_ = false;
};

}  // namespace

namespace {

// Blocks along x that a wide block should be made of. Wide blocks walk memory in long runs and are
// started seldom; there must be enough of them for the threads to share the work evenly.
uint64_t fold_wanted(const LaunchState& launch) {
    constexpr uint64_t kThreads = 4096, kStridedThreads = 32768, kCheapThreads = 16384;
    // A column of a wide block, one cache line per row, should stay in the first cache.
    constexpr uint64_t kTallThreads = 512;
    const uint64_t grid = launch.grid.x, block = launch.block.x;
    const uint64_t known = launch.kernel->block_ns.load(std::memory_order_relaxed);
    const auto workers = uint64_t(ThreadPool::get().threads());
    if (launch.block.y * launch.block.z > 1)
        return std::min({grid, std::max<uint64_t>(1, launch.grid.count() / (8 * workers)),
                         std::max<uint64_t>(1, kTallThreads / block)});
    // Stays on the caller's thread anyway.
    if (known != 0 && known * launch.grid.count() <= kWorthWakingNs &&
        grid * block <= kCheapThreads)
        return grid;
    const uint64_t even = std::max<uint64_t>(1, grid / (8 * workers));
    if (launch.kernel->lowered.row_fold == RowFold::Any) return std::min(even, kThreads / block);
    // Each run of a strided loop is as long as a wide block.
    return std::max(even, std::min(grid / workers, kStridedThreads / block));
}

void fold_rows(LaunchState& launch) {
    const RowFold kind = launch.kernel->lowered.row_fold;
    const uint64_t grid = launch.grid.x;
    const bool tall = launch.block.y * launch.block.z > 1;
    if (launch.cluster.count() > 1) return;  // the kernel may ask for its block's place there
    if (kind == RowFold::None || grid == 1 || (tall && !launch.kernel->lowered.folds_tall) ||
        grid * launch.block.x >= uint64_t{1} << 31)
        return;
    uint64_t fold = fold_wanted(launch);
    if (kind == RowFold::Even && fold > 1) {
        constexpr uint64_t kTries = 64;
        uint64_t rows = (grid + fold - 1) / fold;
        const uint64_t most = std::min(rows + kTries, grid);
        while (rows < most && grid % rows != 0) ++rows;
        fold = grid % rows == 0 ? grid / rows : 1;
    }
    if (fold < 2) return;
    launch.fold = uint32_t(fold);
    launch.rest = uint32_t(grid % fold);
    launch.grid.x = uint32_t((grid + fold - 1) / fold);
    launch.block.x *= uint32_t(fold);
}

}  // namespace

bool may_be_long(const LaunchState& launch) {
    uint64_t known = launch.kernel->block_ns.load(std::memory_order_relaxed);
    return known == 0 || known * launch.grid.count() > kWorthWakingNs;
}

void run_launch(LaunchState& launch) {
    constexpr uint32_t kWarp = 32;
    if (launch.kernel->by_turns != nullptr && launch.block.x % kWarp != 0)
        launch.kernel = launch.kernel->by_turns.get();
    fold_rows(launch);
    launch.blocks = launch.grid.count();
    LaunchJob(launch).run();
    launch.prints.flush(launch.hooks != nullptr ? launch.hooks->print
                                                : std::function<void(std::string_view)>());
    if (launch.interrupted.load())
        throw core::Interrupted(
            fmt::format("{}: stopped by SIGINT: what it was to write is incomplete",
                        launch.kernel->readable_name));
    if (launch.failed.load()) throw *launch.failure;
}

}  // namespace trilane::cpu
