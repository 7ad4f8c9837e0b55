// What the cuda device adds to the driver, side by side in one run: launches, allocations, copies,
// compiles. Prints one line per measurement: name, median, unit. Needs a GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "core/compile_cache.h"
#include "core/error.h"
#include "core/launch.h"
#include "core/memory_pool.h"
#include "core/module.h"
#include "devices/cuda/device.h"
#include "devices/cuda/module.h"

namespace {

using namespace trilane;  // NOLINT: a program, not a header
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 31;

double seconds(const std::function<void()>& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void print(const char* name, double value, const char* unit) {
    std::printf("%-58s %10.3f %s\n", name, value, unit);
    std::fflush(stdout);
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

struct Work {
    const char* name;
    std::function<void()> once;
};

// Microseconds per call of each, taken in turns so that drift hits all alike.
std::vector<double> compare(const std::vector<Work>& works, int calls,
                            const std::function<void()>& settle) {
    std::vector<std::vector<double>> times(works.size());
    for (int round = 0; round < kRounds; ++round)
        for (size_t i = 0; i < works.size(); ++i) {
            settle();
            times[i].push_back(seconds([&] {
                                   for (int call = 0; call < calls; ++call) works[i].once();
                               }) /
                               calls * 1e6);
        }
    settle();
    std::vector<double> result;
    for (size_t i = 0; i < works.size(); ++i) {
        result.push_back(median(times[i]));
        print(works[i].name, result.back(), "us");
    }
    return result;
}

constexpr const char* kSource =
    "extern \"C\" __global__ void add(const float *a, const float *b, float *c, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) c[i] = a[i] + b[i];\n"
    "}\n";

struct Bench {
    const cuda::DriverTable& driver = cuda::driver_table();
    core::ContextPtr context = core::Context::create(
        std::make_unique<cuda::CudaDevice>(driver, 0, core::DeviceHooks{}), 0);
    core::Device& device = context->device();
    core::StreamPtr stream = core::Stream::create(context, true);

    void launches() {
        core::Program program;
        program.source = kSource;
        auto image = std::make_shared<core::Image>(device.compile(program));
        const core::ModulePtr module = core::Module::load(context, image);
        const core::FunctionPtr function = module->function("add");
        const auto handle =
            reinterpret_cast<const cuda::LoadedFunction*>(function->info().raw)->handle;
        const auto a = core::Buffer::allocate(stream, 1600),
                   b = core::Buffer::allocate(stream, 1600),
                   c = core::Buffer::allocate(stream, 1600);
        uint64_t pointers[] = {a->address(), b->address(), c->address()};
        int n = 400;
        void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &n};
        core::LaunchConfig config;
        config.grid = {4, 1, 1};
        config.block = {128, 1, 1};
        config.stream = stream;
        std::vector<core::Argument> checked(4);
        core::Buffer* const buffers[] = {a.get(), b.get(), c.get()};
        for (int i = 0; i < 3; ++i) {
            checked[i].kind = core::ArgumentKind::Pointer;
            checked[i].bits = pointers[i];
            checked[i].buffer = buffers[i];
        }
        checked[3].integer = n;
        const auto raw = reinterpret_cast<cuda::StreamHandle>(stream->raw());
        const auto times = compare({{"launch: raw cuLaunchKernel",
                                     [&] {
                                         driver.cuLaunchKernel(handle, 4, 1, 1, 128, 1, 1, 0, raw,
                                                               arguments, nullptr);
                                     }},
                                    {"launch: core::launch_packed",
                                     [&] { core::launch_packed(*function, config, arguments, 4); }},
                                    {"launch: core::launch, 4 checked arguments",
                                     [&] { core::launch(*function, config, checked); }}},
                                   500, [&] { stream->synchronize(); });
        print("launch: core::launch_packed / raw", times[1] / times[0], "");
        print("launch: core::launch / raw", times[2] / times[0], "");
        compare({{"launch and synchronize",
                  [&] {
                      core::launch(*function, config, checked);
                      stream->synchronize();
                  }},
                 {"look at the current context", [&] { device.make_current(); }},
                 {"stream_done", [&] { device.stream_done(stream->raw()); }}},
                200, [&] { stream->synchronize(); });
    }

    void memory() {
        cuda::PoolHandle pool = nullptr;
        cuda::PoolProperties properties;
        driver.cuMemPoolCreate(&pool, &properties);
        uint64_t threshold = UINT64_MAX;
        driver.cuMemPoolSetAttribute(pool, cuda::kPoolReleaseThreshold, &threshold);
        const auto raw = reinterpret_cast<cuda::StreamHandle>(stream->raw());
        for (const size_t nbytes : {size_t{1600}, size_t{64} << 20}) {
            std::printf("# %zu bytes\n", nbytes);
            compare({{"memory: core pool, allocate and free",
                      [&] { core::Buffer::allocate(stream, nbytes); }},
                     {"memory: cuMemAllocFromPoolAsync and cuMemFreeAsync",
                      [&] {
                          cuda::DeviceAddress address = 0;
                          driver.cuMemAllocFromPoolAsync(&address, nbytes, pool, raw);
                          driver.cuMemFreeAsync(address, raw);
                      }},
                     {"memory: cuMemAlloc and cuMemFree",
                      [&] {
                          cuda::DeviceAddress address = 0;
                          driver.cuMemAlloc(&address, nbytes);
                          driver.cuMemFree(address);
                      }}},
                    20, [&] { stream->synchronize(); });
        }
        driver.cuMemPoolDestroy(pool);
    }

    void small_copies() {
        const auto a = core::Buffer::allocate(stream, 1600);
        std::vector<char> host(1600);
        const core::StreamPtr null = context->default_stream();
        compare({{"1600 bytes to the device, waiting",
                  [&] { core::copy_to_device(*a, 0, host.data(), 1600, null, true); }},
                 {"1600 bytes to the host, waiting",
                  [&] { core::copy_to_host(host.data(), *a, 0, 1600, null, true); }},
                 {"1600 bytes to the host, waiting, on a stream",
                  [&] { core::copy_to_host(host.data(), *a, 0, 1600, stream, true); }}},
                200, [&] { device.synchronize(); });
    }

    void large_copies() {
        const size_t nbytes = size_t{256} << 20;
        const auto a = core::Buffer::allocate(stream, nbytes);
        std::vector<char> host(nbytes, 'x');
        void* pinned = device.allocate_host(nbytes, 0);
        auto rate = [&](const char* name, const std::function<void()>& work) {
            work();
            std::vector<double> times;
            for (int i = 0; i < 5; ++i) times.push_back(seconds(work));
            print(name, static_cast<double>(nbytes) / median(times) / 1e9, "GB/s");
        };
        rate("256 MiB pageable to the device",
             [&] { core::copy_to_device(*a, 0, host.data(), nbytes, stream, true); });
        rate("256 MiB pageable to the host",
             [&] { core::copy_to_host(host.data(), *a, 0, nbytes, stream, true); });
        rate("256 MiB pageable to the device, the driver alone",
             [&] { driver.cuMemcpyHtoD(a->address(), host.data(), nbytes); });
        rate("256 MiB pageable to the host, the driver alone",
             [&] { driver.cuMemcpyDtoH(host.data(), a->address(), nbytes); });
        rate("256 MiB pinned to the device",
             [&] { core::copy_to_device(*a, 0, pinned, nbytes, stream, true); });
        rate("256 MiB pinned to the host",
             [&] { core::copy_to_host(pinned, *a, 0, nbytes, stream, true); });
        device.free_host(pinned);
        for (const size_t part : {size_t{64} << 10, size_t{256} << 10, size_t{1} << 20,
                                  size_t{2} << 20, size_t{4} << 20, size_t{16} << 20}) {
            std::printf("# %zu KiB\n", part >> 10);
            compare({{"pageable to the device",
                      [&] { core::copy_to_device(*a, 0, host.data(), part, stream, true); }},
                     {"pageable to the device, the driver alone",
                      [&] { driver.cuMemcpyHtoD(a->address(), host.data(), part); }},
                     {"pageable to the host",
                      [&] { core::copy_to_host(host.data(), *a, 0, part, stream, true); }},
                     {"pageable to the host, the driver alone",
                      [&] { driver.cuMemcpyDtoH(host.data(), a->address(), part); }}},
                    5, [&] { device.synchronize(); });
        }
    }

    void compiles() {
        int number = 0;
        auto compile = [&](const std::string& source, std::vector<std::string> options) {
            core::Program program;
            program.source = source;
            program.options = std::move(options);
            program.options.push_back("-DNUMBER=" + std::to_string(++number));
            return device.compile(program);
        };
        const std::string with_pow =
            "extern \"C\" __global__ void f(float *a) { a[0] = pow(a[1], 2.0f) + NUMBER; }";
        compare({{"compile: vector addition, new each time", [&] { compile(kSource, {}); }},
                 {"compile: the same without types (C++11)",
                  [&] { compile(kSource, {"--std=c++11"}); }},
                 {"compile: a text that needs the prelude", [&] { compile(with_pow, {}); }},
                 {"compile: a text with cuda in it (not -minimal)",
                  [&] { compile(std::string("// cuda\n") + kSource, {}); }}},
                1, [] {});
        const core::Image image = compile(kSource, {});
        compare({{"load, find the function, unload",
                  [&] {
                      const core::RawModule module = device.load(image);
                      device.function(module, "add");
                      device.unload(module);
                  }}},
                10, [] {});
    }
};

}  // namespace

int main() {
    try {
        double start = 0;
        Bench* bench = nullptr;
        start = seconds([&] {
            bench = new Bench;
            bench->device.make_current();
        });
        print("driver, device and context", start * 1e3, "ms");
        std::printf("# %s\n", bench->context->properties().name.c_str());
        bench->launches();
        bench->memory();
        bench->small_copies();
        bench->large_copies();
        bench->compiles();
        return 0;
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n%s\n", error.what(), error.detail().c_str());
        return 1;
    }
}
