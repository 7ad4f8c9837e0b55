// The compile cache: what makes a key, one compile per program, memory and disk, files that change.
#include "core/compile_cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "core/background.h"
#include "core/env.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"
#include "core/testing/scoped_variable.h"
#include "core/testing/temporary_directory.h"

namespace trilane::core {
namespace {

namespace fs = std::filesystem;
using testing::fake_program;
using testing::FakeMachine;

class CompileCacheTest : public ::testing::Test {
  protected:
    // A context stands for a process: its memory is its own, the disk is shared.
    ContextPtr fresh() { return testing::make_fake_context(machine); }
    std::string only_image() {
        std::string found;
        for (const auto& entry : fs::recursive_directory_iterator(directory.path()))
            if (entry.path().extension() == ".image") found = entry.path();
        return found;
    }
    testing::TemporaryDirectory directory;
    testing::ScopedVariable chosen{"TRILANE_CACHE_DIR", (directory.path() + "/cache").c_str()};
    std::shared_ptr<FakeMachine> machine = std::make_shared<FakeMachine>();
};

TEST_F(CompileCacheTest, CompilesOnceThenMemoryThenDisk) {
    ContextPtr context = fresh();
    const ImagePtr first = context->compile_cache().get(fake_program("k"));
    EXPECT_EQ(context->compile_cache().get(fake_program("k")), first);
    context->compile_cache().clear_memory();
    EXPECT_EQ(*context->compile_cache().get(fake_program("k")), *first);
    const CompileCacheStatistics s = context->compile_cache().statistics();
    EXPECT_EQ(s.compiled, 1u);
    EXPECT_EQ(s.memory_hits, 1u);
    EXPECT_EQ(s.disk_hits, 1u);
    EXPECT_EQ(s.disk_writes, 1u);
    EXPECT_EQ(s.disk_rejects, 0u);
    EXPECT_EQ(*fresh()->compile_cache().get(fake_program("k")), *first);
    EXPECT_EQ(machine->calls_of("compile"), 1);
}

TEST_F(CompileCacheTest, AnotherCompilerIsAnotherKey) {
    fresh()->compile_cache().get(fake_program("k"));
    machine->compiler = "fake 2";
    fresh()->compile_cache().get(fake_program("k"));
    EXPECT_EQ(machine->calls_of("compile"), 2);
}

TEST_F(CompileCacheTest, DamageOnDiskIsCountedAndCompiledAgain) {
    fresh()->compile_cache().get(fake_program("k"));
    const std::string path = only_image();
    fs::resize_file(path, fs::file_size(path) - 1);
    const ContextPtr context = fresh();
    EXPECT_EQ(context->compile_cache().get(fake_program("k"))->bytes, "k");
    EXPECT_EQ(context->compile_cache().statistics().disk_rejects, 1u);
    EXPECT_EQ(context->compile_cache().statistics().disk_writes, 1u);  // and mended
    EXPECT_EQ(machine->calls_of("compile"), 2);
    fresh()->compile_cache().get(fake_program("k"));
    EXPECT_EQ(machine->calls_of("compile"), 2);
}

TEST_F(CompileCacheTest, AnUnusableDirectoryIsNoError) {
    std::ofstream(directory.path() + "/file") << "x";
    const testing::ScopedVariable under_file("TRILANE_CACHE_DIR",
                                             (directory.path() + "/file/cache").c_str());
    const ContextPtr context = fresh();
    EXPECT_EQ(context->compile_cache().get(fake_program("k"))->bytes, "k");
    EXPECT_EQ(context->compile_cache().statistics().disk_writes, 0u);
    EXPECT_EQ(cache_state().rfind("memory only: ", 0), 0u) << cache_state();
}

TEST_F(CompileCacheTest, TheDiskCanBeSwitchedOff) {
    const testing::ScopedVariable off("TRILANE_CACHE", "0");
    fresh()->compile_cache().get(fake_program("k"));
    EXPECT_EQ(only_image(), "");
    EXPECT_NE(cache_state().find("TRILANE_CACHE"), std::string::npos);
    const testing::ScopedVariable on("TRILANE_CACHE", "1");
    EXPECT_EQ(cache_state().rfind("usable: ", 0), 0u) << cache_state();
}

TEST_F(CompileCacheTest, ErrorsAreNotKept) {
    const ContextPtr context = fresh();
    for (int i = 0; i < 2; ++i) {
        try {
            context->compile_cache().get(fake_program("#error"));
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::CompileError);
            EXPECT_NE(error.detail().find("#error"), std::string::npos);
        }
    }
    EXPECT_EQ(machine->calls_of("compile"), 2);
    EXPECT_EQ(only_image(), "");
}

TEST_F(CompileCacheTest, ThreadsCompileAProgramOnce) {
    machine->on_compile = [](const Program&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    const ContextPtr context = fresh();
    std::vector<std::thread> threads;
    std::vector<ImagePtr> images(8);
    for (ImagePtr& image : images)
        threads.emplace_back([&] { image = context->compile_cache().get(fake_program("k")); });
    for (std::thread& thread : threads) thread.join();
    for (const ImagePtr& image : images) EXPECT_EQ(image, images[0]);
    EXPECT_EQ(machine->calls_of("compile"), 1);
}

TEST_F(CompileCacheTest, DifferentProgramsCompileAtTheSameTime) {
    std::atomic<int> inside{0};
    machine->on_compile = [&](const Program&) {
        ++inside;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (inside < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    };
    const ContextPtr context = fresh();
    std::thread other([&] { context->compile_cache().get(fake_program("a")); });
    context->compile_cache().get(fake_program("b"));
    other.join();
    EXPECT_EQ(inside, 2);
}

TEST_F(CompileCacheTest, AFailureReachesEveryThreadThatWaited) {
    machine->on_compile = [](const Program&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    const ContextPtr context = fresh();
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            try {
                context->compile_cache().get(fake_program("#error"));
            } catch (const Error& error) {
                failures += error.kind() == ErrorKind::CompileError;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, 8);
}

// The waits of this thread end by an exception from their second poll on.
class Impatient {
  public:
    struct Left {};
    Impatient() {
        polls = 0;
        set_wait_hooks({[] { return true; },
                        [] {
                            if (++polls > 1) throw Left{};
                        }});
    }
    ~Impatient() { set_wait_hooks({}); }
    static inline int polls = 0;
};

TEST_F(CompileCacheTest, AWaitThatIsLeftLosesNothing) {
    std::atomic<bool> go_on{false};
    machine->on_compile = [&](const Program&) {
        while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    const ContextPtr context = fresh();
    {
        const Impatient impatient;
        EXPECT_THROW(context->compile_cache().get(fake_program("k")), Impatient::Left);
        EXPECT_EQ(Impatient::polls, 2);
        // So is that of who comes second, and its own for what cannot be compiled.
        EXPECT_THROW(context->compile_cache().get(fake_program("k")), Impatient::Left);
        EXPECT_THROW(context->compile_cache().get(fake_program("#error")), Impatient::Left);
    }
    go_on = true;
    EXPECT_EQ(context->compile_cache().get(fake_program("k"))->bytes, "k");
    EXPECT_ERROR(context->compile_cache().get(fake_program("#error")), CompileError, "");
    finish_background();
    EXPECT_EQ(context->compile_cache().statistics().compiled, 1u);
    EXPECT_EQ(context->compile_cache().statistics().disk_writes, 1u);
}

TEST_F(CompileCacheTest, AContextAndAForkWaitForCompilesThatWereLeft) {
    std::atomic<int> finished{0};
    machine->on_compile = [&](const Program&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ++finished;
    };
    ContextPtr context = fresh();
    {
        const Impatient impatient;
        EXPECT_THROW(context->compile_cache().get(fake_program("a")), Impatient::Left);
    }
    const pid_t child = ::fork();
    if (child == 0) ::_exit(context->compile_cache().get(fake_program("a"))->bytes == "a" ? 0 : 1);
    EXPECT_EQ(finished, 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    {
        const Impatient impatient;
        EXPECT_THROW(context->compile_cache().get(fake_program("b")), Impatient::Left);
    }
    context.reset();
    EXPECT_EQ(finished, 2);
}

TEST_F(CompileCacheTest, AThreadOfItsOwnChangesNothingElse) {
    set_wait_hooks({[] { return true; }, [] {}});
    const ContextPtr context = fresh();
    EXPECT_EQ(context->compile_cache().get(fake_program("k"))->bytes, "k");
    EXPECT_ERROR(context->compile_cache().get(fake_program("#error")), CompileError, "");
    EXPECT_EQ(fresh()->compile_cache().get(fake_program("k"))->bytes, "k");
    EXPECT_EQ(machine->calls_of("compile"), 2);
    set_wait_hooks({});
}

TEST_F(CompileCacheTest, AChangedFileOfTheDiskIsSeen) {
    const std::string header = directory.path() + "/header.h";
    std::ofstream(header) << "one";
    machine->disk_files = {header};
    ContextPtr context = fresh();
    context->compile_cache().get(fake_program("k"));
    context->compile_cache().get(fake_program("k"));
    EXPECT_EQ(machine->calls_of("compile"), 1);
    std::ofstream(header) << "two";
    context->compile_cache().get(fake_program("k"));  // the one in memory is outdated
    EXPECT_EQ(machine->calls_of("compile"), 2);
    fresh()->compile_cache().get(fake_program("k"));
    EXPECT_EQ(machine->calls_of("compile"), 2);
    std::ofstream(header) << "three";
    context = fresh();
    context->compile_cache().get(fake_program("k"));  // the one on disk is
    EXPECT_EQ(machine->calls_of("compile"), 3);
    EXPECT_EQ(context->compile_cache().statistics().disk_rejects, 0u);
    fs::remove(header);
    context->compile_cache().get(fake_program("k"));
    context->compile_cache().get(fake_program("k"));  // gone: used, but never kept
    EXPECT_EQ(machine->calls_of("compile"), 5);
}

TEST(CacheKey, EveryFieldCounts) {
    const std::vector<std::function<void(Program&)>> changes = {
        [](Program& p) { p.source += " "; },
        [](Program& p) { p.file_name = "other.cu"; },
        [](Program& p) { p.options = {"-DA", "-DB"}; },
        [](Program& p) { p.options = {"-DA-DB"}; },
        [](Program& p) { p.options = {"-DA"}; },
        [](Program& p) { p.headers = {{"a.h", "b"}}; },
        [](Program& p) { p.headers = {{"a.hb", ""}}; },
        [](Program& p) { p.headers = {{"a.h", ""}, {"b", ""}}; },
        [](Program& p) { p.name_expressions = {"k<1>"}; },
        [](Program& p) { p.name_expressions = {"k<1>", "k<2>"}; },
        [](Program&) {},
    };
    std::set<std::string> keys;
    for (const auto& change : changes) {
        Program program = fake_program("source");
        change(program);
        keys.insert(cache_key(program, "compiler"));
        EXPECT_EQ(cache_key(program, "compiler"), cache_key(program, "compiler"));
    }
    keys.insert(cache_key(fake_program("source"), "compiler 2"));
    EXPECT_EQ(keys.size(), changes.size() + 1);
    EXPECT_EQ(keys.begin()->size(), 32u);
}

TEST(CacheKey, WithFoldersTheWorkingDirectoryCounts) {
    const testing::TemporaryDirectory elsewhere;
    Program plain = fake_program("k"), with_folder = plain;
    with_folder.options = {"-I."};
    const std::string here = cache_key(with_folder, ""), plain_here = cache_key(plain, "");
    const fs::path before = fs::current_path();
    fs::current_path(elsewhere.path());
    EXPECT_NE(cache_key(with_folder, ""), here);
    EXPECT_EQ(cache_key(plain, ""), plain_here);
    fs::current_path(before);
}

TEST(CacheDirectory, FollowsTheEnvironment) {
    const auto with = [](const char* chosen, const char* xdg, const char* user) {
        const testing::ScopedVariable a("TRILANE_CACHE_DIR", chosen), b("XDG_CACHE_HOME", xdg),
            c("HOME", user);
        return cache_directory() + (user == nullptr ? cache_state() : "");
    };
    EXPECT_EQ(with("/a/b", "/x", "/h"), "/a/b");
    EXPECT_EQ(with(nullptr, "/x", "/h"), "/x/trilane");
    EXPECT_EQ(with(nullptr, "relative", "/h"), "/h/.cache/trilane");
    EXPECT_EQ(with(nullptr, nullptr, "/h"), "/h/.cache/trilane");
    EXPECT_EQ(with(nullptr, nullptr, nullptr),
              "memory only: neither TRILANE_CACHE_DIR nor HOME is set");
}

}  // namespace
}  // namespace trilane::core
