// SIGINT ends kernels of every shape while the main thread waits for them, and only then.
#include "devices/cpu/run/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/interrupt.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using testing::Program;

std::atomic<bool> answer{true};
std::atomic<int> handled{0};

void count(int) { handled.fetch_add(1); }

// What a program has: a handler of its own, and an answer to the device's question.
void be_a_program() {
    watch_interrupts([] { return answer.load(); });
    struct sigaction action = {};
    action.sa_handler = count;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    handled.store(0);
    answer.store(true);
}

// Sends SIGINT `times` times, the first after 100 ms, each 200 ms after the other.
class Sender {
  public:
    explicit Sender(int times)
        : thread_([times] {
              std::this_thread::sleep_for(std::chrono::milliseconds(100));
              for (int i = 0; i < times; ++i) {
                  if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
                  kill(getpid(), SIGINT);
              }
          }) {}
    ~Sender() { thread_.join(); }

  private:
    std::thread thread_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

const char* kEndless = R"(
extern "C" __global__ void arithmetic(unsigned* p) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
    while (p[i % 64] != 1u) { x = x * 2654435761u | 2u; p[i % 64] = x; }
}
extern "C" __global__ void flag(volatile unsigned* p) {
    p[1] = 1;
    while (p[0] == 0) { }
}
extern "C" __global__ void between_blocks(unsigned* p) {
    if (threadIdx.x == 0) while (atomicCAS(&p[0], 77u, 1u) != 77u) { }
}
extern "C" __global__ void barriers(unsigned* p) {
    while (true) { __syncthreads(); p[1 + threadIdx.x] += 1; }
}
extern "C" __global__ void mathematics(unsigned* p, double x) {
    while (p[2] != 1u) { x = sin(x) + 1.0; p[2] = 2u + (unsigned)x; }
}
extern "C" __global__ void slow_blocks(unsigned* p) {
    unsigned x = p[0];
    for (int i = 0; i < 100000; ++i) { x = x * 3u + 1u; x ^= x >> 7; }
    p[3 + blockIdx.x % 50] = x;
}
extern "C" __global__ void quick(unsigned* p) { p[threadIdx.x] = threadIdx.x; }
)";

template <typename... Args>
void expect_stopped(Program& program, const char* name, core::Dim3 grid, core::Dim3 block,
                    Args... arguments) {
    auto start = std::chrono::steady_clock::now();
    Sender sender(1);
    EXPECT_THROW(program.launch(name, grid, block, arguments...), core::Interrupted) << name;
    EXPECT_LT(seconds_since(start), 1.0) << name;
}

TEST(Interrupt, EndsKernelsOfEveryShape) {
    be_a_program();
    Program program(kEndless);
    std::vector<unsigned> data(2048, 0);
    for (int round = 0; round < 2; ++round) {
        data.assign(data.size(), 0);
        expect_stopped(program, "arithmetic", {1}, {32}, data.data());
        expect_stopped(program, "arithmetic", {64}, {32}, data.data());
        data[0] = 0;
        expect_stopped(program, "flag", {1}, {64}, data.data());
        expect_stopped(program, "flag", {40}, {64}, data.data());
        expect_stopped(program, "between_blocks", {4}, {32}, data.data());
        expect_stopped(program, "barriers", {1}, {256}, data.data());
        expect_stopped(program, "mathematics", {1}, {1}, data.data(), 0.5);
        expect_stopped(program, "slow_blocks", {2147483647u}, {32}, data.data());
        program.launch("quick", {1}, {256}, data.data());
        for (unsigned i = 0; i < 256; ++i) ASSERT_EQ(data[i], i);
    }
    EXPECT_EQ(handled.load(), 16);  // the program's own handler saw every one
}

TEST(Interrupt, AHandlerThatGoesOnIsAskedAndASecondSignalStops) {
    be_a_program();
    answer.store(false);
    Program program(kEndless);
    std::vector<unsigned> data(64, 0);
    auto start = std::chrono::steady_clock::now();
    Sender sender(2);
    EXPECT_THROW(program.launch("flag", {1}, {1}, data.data()), core::Interrupted);
    EXPECT_GT(seconds_since(start), 0.25);
    EXPECT_EQ(handled.load(), 2);
}

TEST(Interrupt, LaunchesOfOtherThreadsGoOn) {
    be_a_program();
    Program program(kEndless);
    std::vector<unsigned> data(64, 0);
    std::thread other([&] { program.launch("flag", {1}, {1}, data.data()); });
    while (reinterpret_cast<volatile unsigned*>(data.data())[1] == 0) std::this_thread::yield();
    {
        Sender sender(1);
        // The main thread waits for the stream that the other one works on.
        EXPECT_THROW(Program::device().synchronize(), core::Interrupted);
    }
    reinterpret_cast<volatile unsigned*>(data.data())[0] = 1;
    other.join();
}

TEST(Interrupt, OutsideTheDeviceNothingHappens) {
    be_a_program();
    Program program(kEndless);
    std::vector<unsigned> data(256, 0);
    program.launch("quick", {1}, {256}, data.data());
    kill(getpid(), SIGINT);
    program.launch("quick", {1}, {256}, data.data());
    EXPECT_EQ(handled.load(), 1);
    EXPECT_EQ(data[255], 255u);
}

TEST(Interrupt, WorksInAForkedChild) {
    be_a_program();
    Program program(kEndless);
    std::vector<unsigned> data(64, 0);
    program.launch("quick", {1}, {64}, data.data());
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        data.assign(64, 0);
        Sender sender(1);
        try {
            program.launch("flag", {1}, {1}, data.data());
        } catch (const core::Interrupted&) {
            _exit(7);
        }
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace trilane::cpu
