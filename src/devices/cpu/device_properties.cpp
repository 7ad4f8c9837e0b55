// What the cpu device says of itself: the limits of a GPU of compute capability 9.0, the counts of
// this machine.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "core/error.h"
#include "devices/cpu/device.h"
#include "devices/cpu/lower/target.h"
#include "devices/cpu/run/pool.h"

namespace trilane::cpu {

namespace {

constexpr int kSharedPerMultiprocessor = 233472, kSharedOptin = 232448, kSharedReserved = 1024;
constexpr int kThreadsPerMultiprocessor = 2048, kBlocksPerMultiprocessor = 32;

// {number in CUdevice_attribute, value}. The ones that depend on the machine are set after.
constexpr std::pair<int, int> kAttributes[] = {{1, 1024},
                                               {2, 1024},
                                               {3, 1024},
                                               {4, 64},  // threads per block, block x, y, z
                                               {5, 2147483647},
                                               {6, 65535},
                                               {7, 65535},  // grid x, y, z
                                               {8, 49152},
                                               {9, 65536},
                                               {10, 32},
                                               {11, 2147483647},  // shared, constant, warp, pitch
                                               {12, 65536},
                                               {14, 256},
                                               {15, 1},
                                               {17, 0},
                                               {18, 1},  // registers ... no time limit, integrated
                                               {19, 1},
                                               {20, 0},
                                               {21, 131072},
                                               {22, 131072},
                                               {23, 65536},
                                               {24, 16384},
                                               {25, 16384},
                                               {26, 16384},
                                               {27, 32768},
                                               {28, 32768},
                                               {29, 2048},
                                               {30, 512},
                                               {31, 1},
                                               {32, 0},
                                               {33, 0},
                                               {35, 0},
                                               {39, kThreadsPerMultiprocessor},
                                               {40, 1},
                                               {41, 1},
                                               {42, 32768},
                                               {43, 2048},
                                               {44, 0},
                                               {45, 32768},
                                               {46, 32768},
                                               {47, 8192},
                                               {48, 8192},
                                               {49, 32768},
                                               {50, 0},
                                               {51, 32},
                                               {52, 32768},
                                               {53, 32768},
                                               {54, 2046},
                                               {55, 32768},
                                               {56, 131072},
                                               {57, 65536},
                                               {58, 16384},
                                               {59, 16384},
                                               {60, 16384},
                                               {61, 32768},
                                               {62, 2048},
                                               {63, 32768},
                                               {64, 32768},
                                               {65, 2048},
                                               {66, 32768},
                                               {67, 32768},
                                               {68, 2046},
                                               {69, 268435456},
                                               {70, 131072},
                                               {71, 65000},
                                               {72, 2097120},
                                               {73, 32768},
                                               {74, 32768},
                                               {75, 9},
                                               {76, 0},  // compute capability
                                               {77, 32768},
                                               {78, 1},
                                               {79, 1},
                                               {80, 1},
                                               {81, kSharedPerMultiprocessor},
                                               {82, 65536},
                                               {83, 1},
                                               {84, 0},
                                               {85, 0},
                                               {86, 1},
                                               {87, 2},
                                               {88, 1},
                                               {89, 1},
                                               {90, 1},
                                               {91, 1},
                                               {92, 0},
                                               {93, 0},
                                               {94, 0},
                                               {95, 1},
                                               {96, 0},
                                               {97, kSharedOptin},
                                               {98, 0},
                                               {99, 1},
                                               {100, 1},
                                               {101, 1},
                                               {102, 0},
                                               {103, 0},
                                               {104, 0},
                                               {105, 0},
                                               {106, kBlocksPerMultiprocessor},
                                               {107, 0},
                                               {108, 0},
                                               {109, 0},
                                               {110, 0},
                                               {111, kSharedReserved},
                                               {112, 0},
                                               {113, 1},
                                               {114, 0},
                                               {115, 0},
                                               {116, 0},
                                               {117, 0},
                                               {118, 0},
                                               {119, 0},
                                               {120, 0},
                                               {121, 0},
                                               {122, 0},
                                               {123, 0},
                                               {124, 0},
                                               {125, 0},
                                               {126, 0}};

int clock_khz() {
    FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "r");
    int khz = 0;
    if (file != nullptr) {
        if (std::fscanf(file, "%d", &khz) != 1) khz = 0;
        std::fclose(file);
    }
    return khz > 0 ? khz : 2000000;
}

}  // namespace

core::DeviceProperties cpu_properties(int ordinal, size_t memory_limit) {
    core::DeviceProperties properties;
    int threads = ThreadPool::get().threads();
    properties.type = core::DeviceType::Cpu;
    properties.ordinal = ordinal;
    properties.name = fmt::format("Trilane CPU ({}, {} thread{})", host_model(), threads,
                                  threads == 1 ? "" : "s");
    properties.pci_bus_id = fmt::format("0000:{:02x}:00.0", ordinal);
    properties.uuid = std::string("trilane cpu\0\0\0\0\0", 16);
    properties.uuid[15] = char(ordinal);
    properties.total_memory = memory_limit;
    properties.compute_major = 9;
    properties.compute_minor = 0;
    properties.shared_per_block_optin = kSharedOptin;
    properties.multiprocessor_count = threads;
    properties.attributes.insert(std::begin(kAttributes), std::end(kAttributes));
    long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    properties.attributes[13] = clock_khz();
    properties.attributes[16] = threads;
    properties.attributes[34] = ordinal;
    properties.attributes[36] = 3200000;  // memory clock in kHz and bus width: of ordinary DDR5
    properties.attributes[37] = 128;
    properties.attributes[38] = int(std::clamp<long>(l2, 262144, 1 << 30));
    return properties;
}

int model_occupancy(int block_threads, size_t shared_bytes) {
    int warps = (block_threads + 31) / 32;
    int by_threads = kThreadsPerMultiprocessor / 32 / warps;
    auto by_shared = int(size_t(kSharedPerMultiprocessor) / (shared_bytes + kSharedReserved));
    return std::min({by_threads, by_shared, kBlocksPerMultiprocessor});
}

}  // namespace trilane::cpu
