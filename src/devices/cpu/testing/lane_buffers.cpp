// Inputs with corner values, launches, and the comparison of results.
#include "devices/cpu/testing/lane_buffers.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace trilane::cpu::testing {
namespace {

constexpr size_t kInputs = size_t(kMaxElements) * kInputFactor + 64;
constexpr size_t kZone = 256;
constexpr std::byte kZoneByte{0x5a};

template <typename T>
T random_value(RandomSource& random) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) {
        static const std::array<T, 8> corners{
            T(0), T(1), T(-1), T(2), T(7), Limits::max(), Limits::lowest(), T(100)};
        int kind = random.below(10);
        if (kind < 3) return corners[size_t(random.below(8))];
        if (kind < 7) return T(random.below(64));
        return T(random.bits());
    } else {
        static const std::array<T, 10> corners{T(0),
                                               T(-0.0),
                                               T(1),
                                               T(-1),
                                               Limits::infinity(),
                                               -Limits::max(),
                                               Limits::quiet_NaN(),
                                               Limits::min(),
                                               Limits::denorm_min(),
                                               T(2.5)};
        int kind = random.below(20);
        if (kind < 2) return corners[size_t(random.below(10))];
        if (kind < 14) return T(random.below(2000) - 1000) / T(8);
        return std::ldexp(T(random.below(1 << 20)), random.below(60) - 40);
    }
}

template <typename T>
std::vector<T> random_values(RandomSource& random, size_t count) {
    std::vector<T> values(count);
    for (T& value : values) value = random_value<T>(random);
    return values;
}

struct Float4 {
    float x, y, z, w;
};
struct Int2 {
    int x, y;
};

// Made once: no kernel writes them.
struct Inputs {
    Inputs() {
        RandomSource random(20261202);
        a8 = random_values<signed char>(random, kInputs);
        a16 = random_values<unsigned short>(random, kInputs);
        a32 = random_values<int>(random, kInputs);
        b32 = random_values<int>(random, kInputs);
        a64 = random_values<long long>(random, kInputs);
        af = random_values<float>(random, kInputs);
        bf = random_values<float>(random, kInputs);
        ad = random_values<double>(random, kInputs);
        as.resize(kInputs);
        a4.resize(kInputs);
        a2.resize(kInputs);
        for (size_t i = 0; i < kInputs; ++i) {
            auto small = [&] { return random_value<signed char>(random); };
            as[i] = {random_value<int>(random),
                     random_value<float>(random),
                     random_value<short>(random),
                     {small(), small()}};
            auto real = [&] { return random_value<float>(random); };
            a4[i] = {real(), real(), real(), real()};
            a2[i] = {random_value<int>(random), random_value<int>(random)};
        }
    }
    std::vector<signed char> a8;
    std::vector<unsigned short> a16;
    std::vector<int> a32, b32;
    std::vector<long long> a64;
    std::vector<float> af, bf;
    std::vector<double> ad;
    std::vector<Record> as;
    std::vector<Float4> a4;
    std::vector<Int2> a2;
};

template <typename Bits, typename Float>
void unify_nans(std::vector<std::byte>& bytes, size_t first, size_t step) {
    for (size_t at = first; at + sizeof(Float) + kZone <= bytes.size(); at += step) {
        Float value;
        std::memcpy(&value, &bytes[at], sizeof value);
        if (!std::isnan(value)) continue;
        value = std::numeric_limits<Float>::quiet_NaN();
        std::memcpy(&bytes[at], &value, sizeof value);
    }
}

// 64-byte aligned room for one buffer that a kernel writes.
class Output {
  public:
    Output(size_t nbytes, RandomSource* random) : nbytes_(nbytes), room_(nbytes + kZone + 64) {
        for (size_t i = 0; i < nbytes; ++i)
            data()[i] = random != nullptr ? std::byte(random->below(256)) : std::byte(0);
        std::fill_n(data() + nbytes, kZone, kZoneByte);
    }
    std::byte* data() {
        auto address = reinterpret_cast<uintptr_t>(room_.data());
        return room_.data() + ((address + 63) / 64 * 64 - address);
    }
    template <typename T>
    T* as() {
        return reinterpret_cast<T*>(data());
    }
    std::vector<std::byte> bytes() { return {data(), data() + nbytes_ + kZone}; }

  private:
    size_t nbytes_;
    std::vector<std::byte> room_;
};

size_t element_bytes(const std::string& name) {
    if (name == "o8") return 1;
    if (name == "o16") return 2;
    if (name == "o64" || name == "od" || name == "o2" || name == "acc64") return 8;
    if (name == "os") return sizeof(Record);
    if (name == "o4") return 16;
    return 4;
}

}  // namespace

std::optional<std::string> LaneResult::difference(const LaneResult& other) const {
    if (error != other.error)
        return fmt::format("got error '{}', expected '{}'", other.error, error);
    for (size_t b = 0; b < buffers.size(); ++b) {
        const auto &mine = buffers[b].bytes, &its = other.buffers[b].bytes;
        for (size_t at = 0; at < mine.size(); ++at) {
            if (mine[at] == its[at]) continue;
            size_t step = element_bytes(buffers[b].name), first = at / step * step;
            auto text = [&](const std::vector<std::byte>& bytes) {
                std::string digits;
                for (size_t i = std::min(first + step, bytes.size()); i-- > first;)
                    digits += fmt::format("{:02x}", unsigned(bytes[i]));
                return digits;
            };
            size_t count = 0;
            for (size_t i = at; i < mine.size(); ++i) count += mine[i] != its[i];
            return fmt::format("{}[{}] of {}{}: got 0x{}, expected 0x{} ({} bytes differ)",
                               buffers[b].name, at / step, (mine.size() - kZone) / step,
                               at + kZone >= mine.size() ? " (behind its end)" : "", text(its),
                               text(mine), count);
        }
    }
    return {};
}

LaneResult launch_generated(Program& program, const std::string& name,
                            const GeneratedKernel& kernel) {
    static const Inputs* const in = new Inputs;
    const auto N = size_t(kernel.elements);
    std::vector<int> perm(N);
    std::iota(perm.begin(), perm.end(), 0);
    RandomSource random(uint32_t(N) * 77u + 1u);
    for (size_t i = N; i > 1; --i) std::swap(perm[i - 1], perm[size_t(random.below(int(i)))]);
    Output o8(N, &random), o16(2 * N, &random), o32(16 * N, &random), p32(16 * N, &random),
        o64(8 * N, &random), of(4 * N, nullptr), od(8 * N, nullptr),
        os(sizeof(Record) * N, nullptr), o4(16 * N, nullptr), o2(8 * N, &random),
        acc(kAccumulators * 4, nullptr), acc64(64, nullptr),
        flags((kFlagsPerElement * N + 8) * 4, nullptr);
    LaneResult result;
    try {
        program.launch(
            name, kernel.grid, kernel.block, in->a8.data(), in->a16.data(), in->a32.data(),
            in->b32.data(), in->a64.data(), in->af.data(), in->bf.data(), in->ad.data(),
            in->as.data(), in->a4.data(), in->a2.data(), static_cast<const int*>(perm.data()),
            o8.as<signed char>(), o16.as<unsigned short>(), o32.as<int>(), p32.as<unsigned>(),
            o64.as<long long>(), of.as<float>(), od.as<double>(), os.as<Record>(), o4.as<Float4>(),
            o2.as<Int2>(), acc.as<int>(), acc64.as<unsigned long long>(), flags.as<int>(),
            kernel.elements, kernel.n, kernel.trips, kernel.width, kernel.height);
    } catch (const core::Error& error) {
        result.error = error.message();
    }
    for (auto& [label, output] :
         std::initializer_list<std::pair<const char*, Output*>>{{"o8", &o8},
                                                                {"o16", &o16},
                                                                {"o32", &o32},
                                                                {"p32", &p32},
                                                                {"o64", &o64},
                                                                {"of", &of},
                                                                {"od", &od},
                                                                {"os", &os},
                                                                {"o4", &o4},
                                                                {"o2", &o2},
                                                                {"acc", &acc},
                                                                {"acc64", &acc64},
                                                                {"flags", &flags}})
        result.buffers.push_back({label, output->bytes()});
    unify_nans<uint32_t, float>(result.buffers[5].bytes, 0, 4);
    unify_nans<uint64_t, double>(result.buffers[6].bytes, 0, 8);
    unify_nans<uint32_t, float>(result.buffers[7].bytes, offsetof(Record, b), sizeof(Record));
    unify_nans<uint32_t, float>(result.buffers[8].bytes, 0, 4);
    return result;
}

}  // namespace trilane::cpu::testing
