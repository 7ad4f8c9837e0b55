// Random programs of barriers, votes, shuffles, branches and loops, compared with a reference that
// runs all threads of a block in step.
#include <array>
#include <bit>
#include <functional>
#include <random>

#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using testing::Program;

constexpr int kThreads = 77;  // two warps and a part of one
constexpr int kRegisters = 4;
constexpr int kBlocks = 3;

struct Statement {
    enum Kind {
        Arithmetic,
        Shuffle,
        Vote,
        Reduce,
        Match,
        Exchange,
        Count,
        Yield,
        IfThread,
        IfBlock,
        Loop,
        kinds
    } kind = Arithmetic;
    int to = 0, from = 0, form = 0, number = 0;
    std::vector<Statement> body;
};
using Body = std::vector<Statement>;

Body random_body(std::mt19937& random, int size, int depth, bool uniform) {
    auto pick = [&](int limit) { return int(random() % unsigned(limit)); };
    Body body;
    for (int i = 0; i < size; ++i) {
        Statement s;
        do {
            s.kind = Statement::Kind(pick(Statement::kinds));
        } while ((!uniform && (s.kind == Statement::Exchange || s.kind == Statement::Count ||
                               s.kind == Statement::IfBlock)) ||
                 (depth == 0 && s.kind >= Statement::IfThread));
        s.to = pick(kRegisters);
        s.from = pick(kRegisters);
        s.form = pick(4);
        s.number = pick(29) + 1;
        if (s.kind >= Statement::IfThread)
            s.body = random_body(random, 3, depth - 1, uniform && s.kind != Statement::IfThread);
        body.push_back(s);
    }
    return body;
}

// --- text ---------------------------------------------------------------------------------------

std::string text_of(const Body& body, int& names);

std::string text_of(const Statement& s, int& names) {
    std::string to = "r[" + std::to_string(s.to) + "]", from = "r[" + std::to_string(s.from) + "]";
    std::string number = std::to_string(s.number);
    static const char* const kShuffles[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",
                                            "__shfl_xor_sync"};
    static const char* const kReductions[] = {"__reduce_add_sync", "__reduce_max_sync",
                                              "__reduce_min_sync", "__reduce_xor_sync"};
    switch (s.kind) {
        case Statement::Arithmetic:
            return to + " = " + to + (s.form % 2 != 0 ? " * 5u + " : " ^ ") + "(" + from + " + " +
                   number + "u);\n";
        case Statement::Shuffle:
            return to + " = " + kShuffles[s.form] + "(m, " + from + ", " + number + ", " +
                   (s.number % 2 != 0 ? "32" : "16") + ");\n";
        case Statement::Vote:
            return to + " += " +
                   std::array{"__ballot_sync(m, ", "(unsigned)__any_sync(m, ",
                              "(unsigned)__all_sync(m, ",
                              "(unsigned)__uni_sync(m, "}[size_t(s.form)] +
                   from + " % " + number + " == 0);\n";
        case Statement::Reduce:
            return to + " += " + kReductions[s.form] + "(m, " +
                   (s.form == 3 ? "(unsigned)" : "(unsigned)") + from + ");\n";
        case Statement::Match:
            return to + " += __match_any_sync(m, " + from + " & 3u);\n";
        case Statement::Exchange:
            return "s[t] = " + from + "; __syncthreads(); " + to + " += s[(t + " + number +
                   ") % blockDim.x]; __syncthreads();\n";
        case Statement::Count:
            return to + " += __syncthreads_count(" + from + " % " + number + " == 1);\n";
        case Statement::Yield:
            return "__syncwarp(m);\n";
        case Statement::IfThread: {
            std::string mask = "m" + std::to_string(names++);
            return "{ unsigned " + mask + " = __ballot_sync(m, (" + from + " >> " +
                   std::to_string(s.number % 5) + ") & 1); if ((" + from + " >> " +
                   std::to_string(s.number % 5) + ") & 1) { unsigned m = " + mask + ";\n" +
                   text_of(s.body, names) + "} }\n";
        }
        case Statement::IfBlock:
            return "if ((blockIdx.x + " + number + ") % 2) {\n" + text_of(s.body, names) + "}\n";
        default: {
            std::string index = "i" + std::to_string(names++);
            return "for (int " + index + " = 0; " + index + " < n + " +
                   std::to_string(s.number % 4) + "; ++" + index + ") {\n" +
                   text_of(s.body, names) + "}\n";
        }
    }
}

std::string text_of(const Body& body, int& names) {
    std::string text;
    for (const Statement& s : body) text += text_of(s, names);
    return text;
}

std::string kernel_text(const std::string& name, const Body& body) {
    int names = 0;
    return "extern \"C\" __global__ void " + name + R"((unsigned* out, int n) {
    __shared__ unsigned s[128];
    unsigned t = threadIdx.x, m = 0xffffffffu;
    unsigned r[4] = {t, t * 7u + blockIdx.x, blockIdx.x + 3u, t ^ 21u};
)" + text_of(body, names) +
           "    for (int i = 0; i < 4; ++i) out[(blockIdx.x * blockDim.x + t) * 4 + i] = "
           "r[i];\n}\n";
}

// --- reference ----------------------------------------------------------------------------------

class Reference {
  public:
    Reference(int block, int n) : block_(block), n_(n) {
        for (uint32_t t = 0; t < kThreads; ++t)
            r_[t] = {t, t * 7u + uint32_t(block), uint32_t(block) + 3u, t ^ 21u};
    }
    void run(const Body& body, const std::vector<bool>& active) {
        for (const Statement& s : body) step(s, active);
    }
    const std::array<uint32_t, kRegisters>& thread(int t) const { return r_[size_t(t)]; }

  private:
    using Active = std::vector<bool>;

    uint32_t mask(const Active& active, int warp, const std::function<bool(int)>& test) const {
        uint32_t bits = 0;
        for (int lane = 0; lane < 32 && warp + lane < kThreads; ++lane)
            if (active[size_t(warp + lane)] && test(warp + lane)) bits |= 1u << lane;
        return bits;
    }

    void set(const Active& active, const std::function<uint32_t(int)>& value, int to) {
        std::vector<uint32_t> next(kThreads);
        for (int t = 0; t < kThreads; ++t)
            if (active[size_t(t)]) next[size_t(t)] = value(t);
        for (int t = 0; t < kThreads; ++t)
            if (active[size_t(t)]) r_[size_t(t)][size_t(to)] = next[size_t(t)];
    }

    uint32_t shuffled(const Statement& s, const Active& active, int t) const {
        int width = s.number % 2 != 0 ? 32 : 16;
        int lane = t % 32, warp = t - lane, first = lane / width * width;
        int source = lane;
        if (s.form == 0) source = first + s.number % width;
        if (s.form == 1) source = lane - s.number >= first ? lane - s.number : lane;
        if (s.form == 2) source = lane + s.number < first + width ? lane + s.number : lane;
        if (s.form == 3) {
            source = lane ^ s.number;
            if (source >= first + width) source = lane;
        }
        int from = warp + source;
        if (from >= kThreads || !active[size_t(from)]) from = t;
        return r_[size_t(from)][size_t(s.from)];
    }

    uint32_t reduced(const Statement& s, const Active& active, int t) const {
        int warp = t / 32 * 32;
        uint32_t total = s.form == 2 ? ~0u : 0;
        for (int other = warp; other < warp + 32 && other < kThreads; ++other) {
            if (!active[size_t(other)]) continue;
            uint32_t value = r_[size_t(other)][size_t(s.from)];
            if (s.form == 0) total += value;
            if (s.form == 1) total = std::max(total, value);
            if (s.form == 2) total = std::min(total, value);
            if (s.form == 3) total ^= value;
        }
        return total;
    }

    uint32_t voted(const Statement& s, const Active& active, int t) const {
        uint32_t all = mask(active, t / 32 * 32, [](int) { return true; });
        uint32_t yes = mask(active, t / 32 * 32, [&](int other) {
            return r_[size_t(other)][size_t(s.from)] % uint32_t(s.number) == 0;
        });
        if (s.form == 0) return yes;
        if (s.form == 1) return yes != 0;
        if (s.form == 2) return yes == all;
        return yes == 0 || yes == all;
    }

    void step(const Statement& s, const Active& active) {
        auto own = [&](int t, int reg) { return r_[size_t(t)][size_t(reg)]; };
        auto number = uint32_t(s.number);
        switch (s.kind) {
            case Statement::Arithmetic:
                return set(
                    active,
                    [&](int t) {
                        uint32_t term = own(t, s.from) + number;
                        return s.form % 2 != 0 ? own(t, s.to) * 5u + term : own(t, s.to) ^ term;
                    },
                    s.to);
            case Statement::Shuffle:
                return set(active, [&](int t) { return shuffled(s, active, t); }, s.to);
            case Statement::Vote:
                return set(active, [&](int t) { return own(t, s.to) + voted(s, active, t); }, s.to);
            case Statement::Reduce:
                return set(
                    active, [&](int t) { return own(t, s.to) + reduced(s, active, t); }, s.to);
            case Statement::Match:
                return set(
                    active,
                    [&](int t) {
                        return own(t, s.to) + mask(active, t / 32 * 32, [&](int other) {
                                   return (own(other, s.from) & 3) == (own(t, s.from) & 3);
                               });
                    },
                    s.to);
            case Statement::Exchange:
                return set(
                    active,
                    [&](int t) { return own(t, s.to) + own((t + s.number) % kThreads, s.from); },
                    s.to);
            case Statement::Count: {
                uint32_t count = 0;
                for (int t = 0; t < kThreads; ++t) count += own(t, s.from) % number == 1;
                return set(active, [&](int t) { return own(t, s.to) + count; }, s.to);
            }
            case Statement::Yield:
                return;
            case Statement::IfThread: {
                Active inner(active);
                for (int t = 0; t < kThreads; ++t)
                    inner[size_t(t)] =
                        active[size_t(t)] && (own(t, s.from) >> (s.number % 5) & 1) != 0;
                return run(s.body, inner);
            }
            case Statement::IfBlock:
                if ((block_ + s.number) % 2 != 0) run(s.body, active);
                return;
            default:
                for (int i = 0; i < n_ + s.number % 4; ++i) run(s.body, active);
        }
    }

    int block_, n_;
    std::array<std::array<uint32_t, kRegisters>, kThreads> r_{};
};

TEST(RandomPrograms, AgreeWithThreadsRunInStep) {
    constexpr int kPrograms = 24;
    std::mt19937 random(20240607);
    std::vector<Body> bodies;
    std::string source;
    for (int p = 0; p < kPrograms; ++p) {
        bodies.push_back(random_body(random, 6, 2, true));
        source += kernel_text("p" + std::to_string(p), bodies.back());
    }
    Program program(source);
    for (int p = 0; p < kPrograms; ++p) {
        int n = p % 3;
        std::vector<uint32_t> out(size_t(kBlocks * kThreads * kRegisters));
        program.launch("p" + std::to_string(p), {kBlocks}, {kThreads}, out.data(), n);
        for (int block = 0; block < kBlocks; ++block) {
            Reference reference(block, n);
            reference.run(bodies[size_t(p)], std::vector<bool>(kThreads, true));
            for (int t = 0; t < kThreads; ++t)
                for (int i = 0; i < kRegisters; ++i)
                    ASSERT_EQ(out[size_t(((block * kThreads) + t) * kRegisters + i)],
                              reference.thread(t)[size_t(i)])
                        << "block " << block << " thread " << t << " register " << i << "\n"
                        << kernel_text("p", bodies[size_t(p)]);
        }
    }
}

}  // namespace
}  // namespace trilane::cpu
