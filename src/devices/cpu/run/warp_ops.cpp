// Warp operations on the states of the lanes.
#include <array>
#include <bit>

#include "devices/cpu/run/runtime_symbols.h"
#include "devices/cpu/run/scheduler.h"

namespace trilane::cpu {

namespace {

class WarpLanes {
  public:
    WarpLanes(uint32_t members, ThreadState* first, size_t stride)
        : members_(members), first_(reinterpret_cast<uint8_t*>(first)), stride_(stride) {}

    ThreadState& lane(uint32_t index) const {
        return *reinterpret_cast<ThreadState*>(first_ + index * stride_);
    }
    bool has(uint32_t index) const { return (members_ >> index & 1) != 0; }
    template <typename Function>
    void each(Function function) const {
        for (uint32_t scan = members_; scan != 0; scan &= scan - 1) {
            auto index = static_cast<uint32_t>(std::countr_zero(scan));
            function(index, lane(index));
        }
    }
    uint32_t members() const { return members_; }

  private:
    uint32_t members_;
    uint8_t* first_;
    size_t stride_;
};

// The lane that a shuffle reads, and whether it lies in the segment (PTX: shfl.sync).
uint32_t shuffle_source(Suspend kind, uint32_t lane, uint32_t by, uint32_t clamp, bool& inside) {
    uint32_t segment = clamp >> 8 & 31;
    uint32_t last = (lane & segment) | (clamp & 31 & ~segment);
    uint32_t first = lane & segment;
    by &= 31;
    auto signed_last = static_cast<int32_t>(last);
    int32_t source = 0;
    switch (kind) {
        case Suspend::ShuffleUp:
            source = static_cast<int32_t>(lane) - static_cast<int32_t>(by);
            inside = source >= signed_last;
            break;
        case Suspend::ShuffleDown:
            source = static_cast<int32_t>(lane + by);
            inside = source <= signed_last;
            break;
        case Suspend::ShuffleXor:
            source = static_cast<int32_t>(lane ^ by);
            inside = source <= signed_last;
            break;
        default:
            source = static_cast<int32_t>(first | (by & ~segment));
            inside = source <= signed_last;
    }
    return inside ? static_cast<uint32_t>(source) & 31 : lane;
}

void shuffle(Suspend kind, const WarpLanes& lanes) {
    lanes.each([&](uint32_t index, ThreadState& state) {
        bool inside = false;
        uint32_t source = shuffle_source(kind, index, state.operand[0], state.operand[1], inside);
        // A lane that is not there has nothing to give: undefined on a GPU, the own value here.
        uint32_t from = lanes.has(source) ? source : index;
        state.result = static_cast<uint32_t>(lanes.lane(from).value);
        state.predicate = inside;
    });
}

void vote(Suspend kind, const WarpLanes& lanes) {
    uint32_t yes = 0;
    lanes.each([&](uint32_t index, ThreadState& state) {
        if (static_cast<uint32_t>(state.value) != 0) yes |= 1u << index;
    });
    uint32_t result = yes;
    if (kind == Suspend::VoteAll) result = yes == lanes.members();
    if (kind == Suspend::VoteAny) result = yes != 0;
    if (kind == Suspend::VoteUniform) result = yes == 0 || yes == lanes.members();
    lanes.each([&](uint32_t, ThreadState& state) { state.result = result; });
}

void match(Suspend kind, const WarpLanes& lanes) {
    lanes.each([&](uint32_t, ThreadState& state) {
        uint32_t equal = 0;
        lanes.each([&](uint32_t other, ThreadState& theirs) {
            if (theirs.value == state.value) equal |= 1u << other;
        });
        bool all = equal == lanes.members();
        state.result = kind == Suspend::MatchAny ? equal : (all ? equal : 0);
        state.predicate = all;
    });
}

uint32_t combine(Suspend kind, uint32_t a, uint32_t b) {
    auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
    switch (kind) {
        case Suspend::ReduceAdd:
            return a + b;
        case Suspend::ReduceMin:
            return sa < sb ? a : b;
        case Suspend::ReduceMax:
            return sa > sb ? a : b;
        case Suspend::ReduceUMin:
            return a < b ? a : b;
        case Suspend::ReduceUMax:
            return a > b ? a : b;
        case Suspend::ReduceAnd:
            return a & b;
        case Suspend::ReduceOr:
            return a | b;
        default:
            return a ^ b;
    }
}

void reduce(Suspend kind, const WarpLanes& lanes) {
    uint32_t total = 0;
    bool first = true;
    lanes.each([&](uint32_t, ThreadState& state) {
        auto value = static_cast<uint32_t>(state.value);
        total = first ? value : combine(kind, total, value);
        first = false;
    });
    lanes.each([&](uint32_t, ThreadState& state) { state.result = total; });
}

}  // namespace

void run_warp_operation(Suspend kind, uint32_t members, ThreadState* first, size_t stride) {
    WarpLanes lanes(members, first, stride);
    switch (kind) {
        case Suspend::SyncWarp:
        case Suspend::Converge:
            return;
        case Suspend::ShuffleUp:
        case Suspend::ShuffleDown:
        case Suspend::ShuffleXor:
        case Suspend::ShuffleIndex:
            return shuffle(kind, lanes);
        case Suspend::VoteAll:
        case Suspend::VoteAny:
        case Suspend::VoteUniform:
        case Suspend::Ballot:
            return vote(kind, lanes);
        case Suspend::MatchAny:
        case Suspend::MatchAll:
            return match(kind, lanes);
        case Suspend::ActiveMask:
            lanes.each([&](uint32_t, ThreadState& state) { state.result = members; });
            return;
        default:
            return reduce(kind, lanes);
    }
}

extern "C" void trilane_rt_warp_exchange(uint32_t kind, uint32_t active, void* exchange) {
    auto& lanes = *static_cast<WarpExchange*>(exchange);
    std::array<ThreadState, 32> states;
    for (uint32_t left = active; left != 0;) {
        const uint32_t mask = lanes.mask[std::countr_zero(left)];
        uint32_t group = 0;
        for (uint32_t scan = left; scan != 0; scan &= scan - 1) {
            auto lane = static_cast<uint32_t>(std::countr_zero(scan));
            if (lanes.mask[lane] != mask) continue;
            group |= 1u << lane;
            states[lane].value = lanes.value[lane];
            states[lane].operand[0] = lanes.operand[0][lane];
            states[lane].operand[1] = lanes.operand[1][lane];
        }
        run_warp_operation(static_cast<Suspend>(kind), group, states.data(), sizeof(ThreadState));
        for (uint32_t scan = group; scan != 0; scan &= scan - 1) {
            auto lane = static_cast<uint32_t>(std::countr_zero(scan));
            lanes.result[lane] = states[lane].result;
            lanes.predicate[lane] = states[lane].predicate;
        }
        left &= ~group;
    }
}

}  // namespace trilane::cpu
