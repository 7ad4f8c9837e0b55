// Scheduling inside a block.
#include "devices/cpu/run/scheduler.h"

#include <bit>
#include <map>

#include "core/error.h"
#include "devices/cpu/run/kernel.h"

namespace trilane::cpu {

namespace {

constexpr size_t kStateBytes = sizeof(ThreadState);
// A warp that only talks to itself lets the others run after so many exchanges.
constexpr int kExchangesInARow = 4096;

bool is_warp_operation(Suspend kind) { return static_cast<uint32_t>(kind) >= kFirstWarpSuspend; }

bool is_soft(Suspend kind) { return kind == Suspend::ActiveMask || kind == Suspend::Converge; }

}  // namespace

const char* suspend_name(Suspend kind) {
    static constexpr const char* kNames[] = {"exit",
                                             "__syncthreads",
                                             "__syncthreads_count",
                                             "__syncthreads_and",
                                             "__syncthreads_or",
                                             "barrier arrive",
                                             "grid synchronisation",
                                             "the arrival at the cluster's barrier",
                                             "the cluster's barrier",
                                             "a loop that waits",
                                             "__syncwarp",
                                             "__shfl_up_sync",
                                             "__shfl_down_sync",
                                             "__shfl_xor_sync",
                                             "__shfl_sync",
                                             "__all_sync",
                                             "__any_sync",
                                             "__uni_sync",
                                             "__ballot_sync",
                                             "__match_any_sync",
                                             "__match_all_sync",
                                             "__reduce_add_sync",
                                             "__reduce_min_sync",
                                             "__reduce_max_sync",
                                             "__reduce_min_sync",
                                             "__reduce_max_sync",
                                             "__reduce_and_sync",
                                             "__reduce_or_sync",
                                             "__reduce_xor_sync",
                                             "__activemask",
                                             "a volatile access"};
    auto index = static_cast<size_t>(kind);
    return index < std::size(kNames) ? kNames[index] : "?";
}

size_t BlockRun::stride(const LoadedKernel& kernel) {
    size_t bytes = kStateBytes + (kernel.lowered.frame_bytes + 63) / 64 * 64;
    return bytes % 4096 == 0 ? bytes + 64 : bytes;  // equal cache sets for all threads are slow
}

ThreadState& BlockRun::thread(uint32_t linear) {
    return *reinterpret_cast<ThreadState*>(frames_ + linear * stride_);
}

void BlockRun::start(const LoadedKernel& kernel, BlockContext& context, uint8_t* frames) {
    kernel_ = &kernel;
    context_ = &context;
    frames_ = frames;
    stride_ = stride(kernel);
    threads_ = context.block_dim[0] * context.block_dim[1] * context.block_dim[2];
    warps_ = (threads_ + 31) / 32;
    live_ = threads_;
    at_barrier_ = at_grid_ = yielded_ = at_cluster_ = arrived_at_cluster_ = 0;
    named_barrier_ = barrier_value_ = grid_counted_ = false;
    arrived_.fill(0);
    for (uint32_t w = 0; w < warps_; ++w) {
        warp_[w] = Warp{};
        uint32_t lanes = std::min(32u, threads_ - w * 32);
        warp_[w].exists = lanes == 32 ? ~0u : (1u << lanes) - 1;
    }
    context.run = this;
    auto begin = reinterpret_cast<StartFunction>(kernel.entry);
    uint32_t index = 0;
    for (uint32_t z = 0; z < context.block_dim[2]; ++z)
        for (uint32_t y = 0; y < context.block_dim[1]; ++y)
            for (uint32_t x = 0; x < context.block_dim[0]; ++x, ++index) {
                ThreadState& state = thread(index);
                state.kind = Suspend::Exited;
                state.linear = index;
                state.cluster_phase = 0;
                context.thread_linear = index;
                begin(&context, frames_ + index * stride_ + kStateBytes, x, y, z);
                sort_in(warp_[index / 32], index, index % 32);
            }
}

void BlockRun::resume(Warp& warp, uint32_t index, uint32_t lane) {
    ThreadState& state = thread(index);
    state.kind = Suspend::Exited;
    context_->thread_linear = index;
    void* frame = frames_ + index * stride_ + kStateBytes;
    (*static_cast<void (**)(void*)>(frame))(frame);
    sort_in(warp, index, lane);
}

void BlockRun::sort_in(Warp& warp, uint32_t index, uint32_t lane) {
    ThreadState& state = thread(index);
    uint32_t bit = 1u << lane;
    switch (state.kind) {
        case Suspend::Exited:
            warp.exited |= bit;
            --live_;
            arrived_at_cluster_ -= (warp.arrived & bit) != 0;
            warp.arrived &= ~bit;
            return;
        case Suspend::BarrierCount:
        case Suspend::BarrierAnd:
        case Suspend::BarrierOr:
            barrier_value_ = true;
            [[fallthrough]];
        case Suspend::Barrier:
            named_barrier_ |= (state.operand[0] | state.operand[1]) != 0;
            warp.barrier |= bit;
            ++at_barrier_;
            return;
        case Suspend::BarrierArrive:
            ++arrived_[state.operand[0] & 15];
            named_barrier_ = true;
            warp.runnable |= bit;
            return;
        case Suspend::GridSync:
            warp.grid |= bit;
            ++at_grid_;
            return;
        case Suspend::ClusterArrive:
            state.cluster_phase = context_->cluster->phase;
            arrived_at_cluster_ += (warp.arrived & bit) == 0;
            warp.arrived |= bit;
            warp.runnable |= bit;
            return;
        case Suspend::ClusterWait:
            warp.at_cluster |= bit;
            ++at_cluster_;
            return;
        case Suspend::Yield:
            warp.yielded |= bit;
            ++yielded_;
            return;
        default:
            warp.standing |= bit;
    }
}

bool BlockRun::run_warp(Warp& warp, uint32_t first) {
    bool progress = false;
    for (int round = 0; round < kExchangesInARow; ++round) {
        uint32_t todo = warp.runnable;
        warp.runnable = 0;
        progress |= todo != 0;
        while (todo != 0) {
            auto lane = static_cast<uint32_t>(std::countr_zero(todo));
            todo &= todo - 1;
            resume(warp, first + lane, lane);
        }
        if (warp.runnable == 0 && (warp.standing == 0 || !resolve(warp, first))) break;
    }
    return progress;
}

bool BlockRun::resolve(Warp& warp, uint32_t first) {
    bool resolved = false;
    uint32_t soft = 0;
    for (uint32_t left = warp.standing; left != 0;) {
        auto leader = static_cast<uint32_t>(std::countr_zero(left));
        ThreadState& head = thread(first + leader);
        bool is_soft_kind = is_soft(head.kind);
        uint32_t group = 0;
        for (uint32_t scan = left; scan != 0; scan &= scan - 1) {
            auto lane = static_cast<uint32_t>(std::countr_zero(scan));
            ThreadState& other = thread(first + lane);
            bool same = other.kind == head.kind &&
                        (is_soft_kind ? other.site == head.site : other.mask == head.mask);
            if (same) group |= 1u << lane;
        }
        left &= ~group;
        if (is_soft_kind) {
            soft |= group;
            continue;
        }
        uint32_t needed = head.mask & warp.exists & ~warp.exited;
        if ((needed & ~group) != 0) continue;
        run_warp_operation(head.kind, group, &thread(first), stride_);
        warp.standing &= ~group;
        warp.runnable |= group;
        resolved = true;
    }
    if (resolved || soft == 0) return resolved;
    // Nobody else of the warp can move: who stands at the same place is converged. One place at a
    // time, so that those who go on can still join the others.
    auto leader = static_cast<uint32_t>(std::countr_zero(soft));
    ThreadState& head = thread(first + leader);
    uint32_t group = 0;
    for (uint32_t scan = soft; scan != 0; scan &= scan - 1) {
        auto lane = static_cast<uint32_t>(std::countr_zero(scan));
        ThreadState& other = thread(first + lane);
        if (other.kind == head.kind && other.site == head.site) group |= 1u << lane;
    }
    run_warp_operation(head.kind, group, &thread(first), stride_);
    warp.standing &= ~group;
    warp.runnable |= group;
    return true;
}

void BlockRun::release_all_at_barrier() {
    if (barrier_value_) {
        uint32_t count = 0, all = 1, any = 0;
        for (uint32_t w = 0; w < warps_; ++w)
            for (uint32_t scan = warp_[w].barrier; scan != 0; scan &= scan - 1) {
                ThreadState& state = thread(w * 32 + uint32_t(std::countr_zero(scan)));
                if (state.kind == Suspend::Barrier) continue;
                bool yes = uint32_t(state.value) != 0;
                count += yes;
                all &= uint32_t{yes};
                any |= uint32_t{yes};
            }
        for (uint32_t w = 0; w < warps_; ++w)
            for (uint32_t scan = warp_[w].barrier; scan != 0; scan &= scan - 1) {
                ThreadState& state = thread(w * 32 + uint32_t(std::countr_zero(scan)));
                state.result = state.kind == Suspend::BarrierCount ? count
                               : state.kind == Suspend::BarrierAnd ? all
                                                                   : any;
            }
    }
    for (uint32_t w = 0; w < warps_; ++w) {
        warp_[w].runnable |= warp_[w].barrier;
        warp_[w].barrier = 0;
    }
    at_barrier_ = 0;
    barrier_value_ = named_barrier_ = false;
}

bool BlockRun::release_named_barriers() {
    bool released = false;
    for (uint32_t id = 0; id < 16; ++id) {
        uint32_t here = 0, expected = 0;
        for (uint32_t w = 0; w < warps_; ++w)
            for (uint32_t scan = warp_[w].barrier; scan != 0; scan &= scan - 1) {
                ThreadState& state = thread(w * 32 + uint32_t(std::countr_zero(scan)));
                if ((state.operand[0] & 15) != id) continue;
                ++here;
                expected = std::max(expected, state.operand[1]);
            }
        if (here == 0) continue;
        if (expected == 0) expected = live_;
        if (here + arrived_[id] < expected) continue;
        arrived_[id] = 0;
        for (uint32_t w = 0; w < warps_; ++w)
            for (uint32_t scan = warp_[w].barrier; scan != 0; scan &= scan - 1) {
                auto lane = static_cast<uint32_t>(std::countr_zero(scan));
                if ((thread(w * 32 + lane).operand[0] & 15) != id) continue;
                warp_[w].barrier &= ~(1u << lane);
                warp_[w].runnable |= 1u << lane;
                --at_barrier_;
            }
        released = true;
    }
    return released;
}

bool BlockRun::release_barriers() {
    if (at_barrier_ == 0) return false;
    if (named_barrier_ && !barrier_value_) return release_named_barriers();
    if (at_barrier_ != live_) return false;
    release_all_at_barrier();
    return true;
}

bool BlockRun::wake_grid() {
    if (at_grid_ == 0 || at_grid_ != live_) return false;
    LaunchState& launch = *context_->launch;
    if (!grid_counted_) {
        grid_generation_ = launch.grid_generation.load();
        launch.grid_arrived.fetch_add(1);
        grid_counted_ = true;
    }
    {
        std::lock_guard lock(launch.failure_mutex);
        if (launch.grid_generation.load() == grid_generation_ &&
            launch.grid_arrived.load() + launch.blocks_done.load() >= launch.blocks) {
            launch.grid_arrived.store(0);
            launch.grid_generation.fetch_add(1);
        }
    }
    if (launch.grid_generation.load() == grid_generation_) return false;
    grid_counted_ = false;
    for (uint32_t w = 0; w < warps_; ++w) {
        warp_[w].runnable |= warp_[w].grid;
        warp_[w].grid = 0;
    }
    at_grid_ = 0;
    return true;
}

void BlockRun::begin_phase() {
    for (uint32_t w = 0; w < warps_; ++w) warp_[w].arrived = 0;
    arrived_at_cluster_ = 0;
}

// Whoever waits goes on when the phase at whose barrier it arrived is over.
bool BlockRun::wake_cluster() {
    if (at_cluster_ == 0) return false;
    context_->cluster->end_phase();
    bool woken = false;
    for (uint32_t w = 0; w < warps_; ++w)
        for (uint32_t scan = warp_[w].at_cluster; scan != 0; scan &= scan - 1) {
            auto lane = static_cast<uint32_t>(std::countr_zero(scan));
            if (thread(w * 32 + lane).cluster_phase == context_->cluster->phase) continue;
            warp_[w].at_cluster &= ~(1u << lane);
            warp_[w].runnable |= 1u << lane;
            --at_cluster_;
            woken = true;
        }
    return woken;
}

void ClusterRun::end_phase() {
    for (const BlockRun* block : blocks)
        if (!block->all_arrived()) return;
    ++phase;
    for (BlockRun* block : blocks) block->begin_phase();
}

bool BlockRun::wake_yielded() {
    if (yielded_ == 0) return false;
    for (uint32_t w = 0; w < warps_; ++w) {
        warp_[w].runnable |= warp_[w].yielded;
        warp_[w].yielded = 0;
    }
    yielded_ = 0;
    return true;
}

BlockRun::State BlockRun::run() {
    moved_ = wake_yielded() || at_grid_ > 0;
    while (true) {
        if (context_->launch->ended()) return State::Waiting;  // the caller looks, too
        bool progress = false;
        for (uint32_t w = 0; w < warps_; ++w)
            if ((warp_[w].runnable | warp_[w].standing) != 0)
                progress |= run_warp(warp_[w], w * 32);
        moved_ |= progress;
        if (live_ == 0) {
            moved_ = false;
            return State::Done;
        }
        if (release_barriers() || wake_grid() || wake_cluster()) {
            moved_ = true;
            continue;
        }
        bool runnable = false;
        for (uint32_t w = 0; w < warps_; ++w) runnable |= warp_[w].runnable != 0;
        if (runnable) continue;
        if (yielded_ > 0 || (at_grid_ > 0 && at_grid_ == live_)) return State::Waiting;
        if (at_cluster_ > 0) return State::Waiting;
        if (!progress) report_deadlock();
    }
}

void BlockRun::report_deadlock() {
    std::map<std::pair<Suspend, uint32_t>, std::vector<uint32_t>> places;
    for (uint32_t w = 0; w < warps_; ++w) {
        uint32_t stuck = warp_[w].standing | warp_[w].barrier | warp_[w].grid | warp_[w].at_cluster;
        for (uint32_t scan = stuck; scan != 0; scan &= scan - 1) {
            uint32_t index = w * 32 + uint32_t(std::countr_zero(scan));
            ThreadState& state = thread(index);
            places[{state.kind, state.site}].push_back(index);
        }
    }
    std::string text;
    for (const auto& [place, threads] : places) {
        int32_t line = place.second < kernel_->lowered.sites.size()
                           ? kernel_->lowered.sites[place.second].line
                           : 0;
        text += fmt::format("\n  {} of {} threads wait at {}{}, first is thread {}", threads.size(),
                            threads_, suspend_name(place.first),
                            line > 0 ? fmt::format(" (line {})", line) : "", threads.front());
        if (is_warp_operation(place.first) && !is_soft(place.first))
            text += fmt::format(", mask {:#010x}", thread(threads.front()).mask);
    }
    core::throw_fault(core::FaultCode::LaunchTimeout,
                      "{}: deadlock in block ({},{},{}): no thread can go on:{}",
                      kernel_->readable_name, context_->block_idx[0], context_->block_idx[1],
                      context_->block_idx[2], text);
}

}  // namespace trilane::cpu
