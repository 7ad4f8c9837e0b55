// The cache on disk: damage, foreign owners and modes, symlinks, full and missing disks, many
// writers.
#include "core/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "core/testing/scoped_variable.h"
#include "core/testing/temporary_directory.h"

namespace trilane::core {
namespace {

namespace fs = std::filesystem;
using Outcome = DiskCache::Outcome;

class DiskCacheTest : public ::testing::Test {
  protected:
    std::string file(const std::string& k) const { return directory + "/" + k + ".image"; }
    static std::string contents(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static void replace(const std::string& path, const std::string& bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    }
    // Names of all files but the one that says when the last sweep was.
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(directory))
            if (entry.path().filename() != ".swept") names.push_back(entry.path().filename());
        return names;
    }
    void age(const std::string& path, time_t seconds) const {
        const time_t then = ::time(nullptr) - seconds;
        const utimbuf times{then, then};
        ASSERT_EQ(::utime(path.c_str(), &times), 0);
    }
    testing::TemporaryDirectory temporary;
    std::string directory = temporary.path() + "/a/images";
    std::string key = std::string(32, 'a');
    std::string payload = std::string(3000, 'x') + '\0' + "end";
    std::string out = "untouched";
};

TEST_F(DiskCacheTest, ReadsWhatItWrote) {
    const DiskCache cache(directory);
    ASSERT_TRUE(cache.usable()) << cache.why_not();
    EXPECT_EQ(cache.read(key, out), Outcome::Absent);
    EXPECT_EQ(out, "untouched");
    ASSERT_TRUE(cache.write(key, payload));
    EXPECT_EQ(cache.read(key, out), Outcome::Found);
    EXPECT_EQ(out, payload);
    EXPECT_EQ(DiskCache(directory).read(key, out), Outcome::Found);
    ASSERT_TRUE(cache.write(key, ""));
    EXPECT_EQ(cache.read(key, out), Outcome::Found);
    EXPECT_EQ(out, "");
    struct stat status{};
    ASSERT_EQ(::stat(directory.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    ASSERT_EQ(::stat(file(key).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, EveryTruncationIsRejected) {
    const DiskCache cache(directory);
    ASSERT_TRUE(cache.write(key, payload));
    const std::string good = contents(file(key));
    for (size_t n = 0; n < good.size(); n += n < 100 ? 1 : 97) {
        replace(file(key), good.substr(0, n));
        EXPECT_EQ(cache.read(key, out), Outcome::Rejected) << n;
    }
    replace(file(key), good + "x");
    EXPECT_EQ(cache.read(key, out), Outcome::Rejected);
    EXPECT_EQ(out, "untouched");
}

TEST_F(DiskCacheTest, EveryFlippedBitIsRejected) {
    const DiskCache cache(directory);
    payload.resize(64);
    ASSERT_TRUE(cache.write(key, payload));
    const std::string good = contents(file(key));
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
        std::string bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
        replace(file(key), bad);
        EXPECT_EQ(cache.read(key, out), Outcome::Rejected) << bit;
    }
    ASSERT_TRUE(cache.write(key, payload));  // mended by the next write
    EXPECT_EQ(cache.read(key, out), Outcome::Found);
}

TEST_F(DiskCacheTest, AnEntryUnderAnotherNameIsRejected) {
    const DiskCache cache(directory);
    ASSERT_TRUE(cache.write(key, payload));
    const std::string other(32, 'b');
    fs::copy(file(key), file(other));
    EXPECT_EQ(cache.read(other, out), Outcome::Rejected);
}

TEST_F(DiskCacheTest, KeysAreNoPaths) {
    const DiskCache cache(directory);
    for (const std::string& bad : {std::string("../../etc/passwd"), std::string(32, '/'),
                                   std::string(32, 'G'), std::string(31, 'a')}) {
        EXPECT_FALSE(cache.write(bad, payload));
        EXPECT_EQ(cache.read(bad, out), Outcome::Absent);
    }
}

TEST_F(DiskCacheTest, ADirectoryThatOthersMayUseIsRefused) {
    fs::create_directories(directory);
    for (const mode_t mode : {0755, 0777, 0710, 0701}) {
        ::chmod(directory.c_str(), mode);
        const DiskCache cache(directory);
        EXPECT_FALSE(cache.usable());
        EXPECT_NE(cache.why_not().find("expected 700"), std::string::npos) << cache.why_not();
        EXPECT_FALSE(cache.write(key, payload));
        EXPECT_EQ(cache.read(key, out), Outcome::Absent);
    }
    ::chmod(directory.c_str(), 0700);
    EXPECT_TRUE(DiskCache(directory).usable());
}

TEST_F(DiskCacheTest, ASymlinkIsRefused) {
    fs::create_directories(temporary.path() + "/real");
    ::chmod((temporary.path() + "/real").c_str(), 0700);
    const std::string link = temporary.path() + "/link";
    fs::create_directory_symlink(temporary.path() + "/real", link);
    EXPECT_FALSE(DiskCache(link).usable());

    const DiskCache cache(directory);
    const std::string elsewhere = temporary.path() + "/elsewhere";
    ASSERT_TRUE(cache.write(key, payload));
    fs::rename(file(key), elsewhere);
    fs::create_symlink(elsewhere, file(key));
    EXPECT_EQ(cache.read(key, out), Outcome::Rejected);
    ASSERT_TRUE(cache.write(key, "new"));  // replaces the link, not what it points to
    EXPECT_FALSE(fs::is_symlink(file(key)));
    EXPECT_EQ(cache.read(key, out), Outcome::Found);
    EXPECT_NE(contents(elsewhere).find(payload), std::string::npos);
}

TEST_F(DiskCacheTest, AFileThatOthersMayWriteOrThatIsNoFileIsRejected) {
    const DiskCache cache(directory);
    ASSERT_TRUE(cache.write(key, payload));
    ::chmod(file(key).c_str(), 0622);
    EXPECT_EQ(cache.read(key, out), Outcome::Rejected);
    fs::remove(file(key));
    ASSERT_EQ(::mkfifo(file(key).c_str(), 0600), 0);
    EXPECT_EQ(cache.read(key, out), Outcome::Rejected);  // and does not wait for a writer
    fs::remove(file(key));
    fs::create_directory(file(key));
    EXPECT_EQ(cache.read(key, out), Outcome::Rejected);
    EXPECT_FALSE(cache.write(key, payload));
    EXPECT_EQ(files().size(), 1u);  // no leftovers
}

// Runs as another user, which only root can do; as an ordinary user the case that matters, a
// directory of root's, is tested instead.
TEST_F(DiskCacheTest, ADirectoryOfAnotherUserIsRefused) {
    if (::geteuid() != 0) {
        EXPECT_FALSE(DiskCache("/root").usable());
        return;
    }
    ::chmod(temporary.path().c_str(), 0755);
    {
        const DiskCache mine(directory);
    }
    ASSERT_EQ(::chown(directory.c_str(), 12345, 12345), 0);
    const DiskCache cache(directory);
    EXPECT_FALSE(cache.usable());
    EXPECT_NE(cache.why_not().find("owned by user 12345"), std::string::npos) << cache.why_not();
    ASSERT_EQ(::chown(directory.c_str(), 0, 0), 0);
    const DiskCache again(directory);
    ASSERT_TRUE(again.write(key, payload));
    ASSERT_EQ(::chown(file(key).c_str(), 12345, 12345), 0);
    EXPECT_EQ(again.read(key, out), Outcome::Rejected);
}

TEST_F(DiskCacheTest, ADirectoryThatCannotBeMadeIsNoError) {
    replace(temporary.path() + "/file", "");
    const DiskCache under_file(temporary.path() + "/file/images");
    EXPECT_FALSE(under_file.usable());
    EXPECT_NE(under_file.why_not().find("Not a directory"), std::string::npos)
        << under_file.why_not();
    EXPECT_FALSE(DiskCache("").usable());
    EXPECT_FALSE(DiskCache("relative/images").usable());
    EXPECT_FALSE(DiskCache("/proc/trilane/images").usable());
}

TEST_F(DiskCacheTest, AFailingWriteLeavesNothing) {
    const DiskCache cache(directory);
    ASSERT_TRUE(cache.usable());
    const pid_t child = ::fork();
    if (child == 0) {  // a limit on file sizes stands for a full disk
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100, 100};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        ::_exit(cache.write(key, payload) ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_TRUE(files().empty());
    EXPECT_EQ(cache.read(key, out), Outcome::Absent);
}

TEST_F(DiskCacheTest, LeftoversOfInterruptedWritersGo) {
    {
        const DiskCache cache(directory);
    }
    const std::string old = directory + "/.new-1-0-x", young = directory + "/.new-2-0-x";
    replace(old, "half");
    replace(young, "half");
    const utimbuf long_ago{1000, 1000};
    ::utime(old.c_str(), &long_ago);
    const DiskCache cache(directory);
    EXPECT_TRUE(fs::exists(old));  // opening costs nothing
    ASSERT_TRUE(cache.write(key, payload));
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(young));  // its writer may be alive
}

TEST_F(DiskCacheTest, TheOldestEntriesGoWhenItIsFull) {
    const testing::ScopedVariable limit("TRILANE_CACHE_MIB", "1");
    const std::string big(300000, 'x');
    const auto key_of = [](char c) { return std::string(32, c); };
    {
        const DiskCache cache(directory);
        for (const char c : {'1', '2', '3', '4'}) {
            ASSERT_TRUE(cache.write(key_of(c), big));
            const utimbuf when{1000 + c, 1000 + c};
            ::utime(file(key_of(c)).c_str(), &when);
        }
        EXPECT_EQ(cache.read(key_of('1'), out), Outcome::Found);  // is young again by that
    }
    fs::remove(directory + "/.swept");
    const DiskCache cache(directory);
    ASSERT_TRUE(cache.write(key_of('5'), big));
    EXPECT_EQ(cache.read(key_of('2'), out), Outcome::Absent);
    EXPECT_EQ(cache.read(key_of('3'), out), Outcome::Absent);
    for (const char c : {'1', '4', '5'}) EXPECT_EQ(cache.read(key_of(c), out), Outcome::Found) << c;
}

// Looking at all entries takes long where there are many: every process that compiles something
// would pay for it.
TEST_F(DiskCacheTest, ProcessesSweepOnceAnHourOrAfterWritingMuch) {
    const auto key_of = [](char c) { return std::string(32, c); };
    {
        const testing::ScopedVariable limit("TRILANE_CACHE_MIB", "100");
        const DiskCache cache(directory);
        for (const char c : {'1', '2', '3', '4'}) {
            ASSERT_TRUE(cache.write(key_of(c), std::string(400000, c)));
            age(file(key_of(c)), 10 * 24 * 3600 - c);
        }
    }
    const testing::ScopedVariable limit("TRILANE_CACHE_MIB", "1");
    ASSERT_TRUE(DiskCache(directory).write(key, "small"));
    EXPECT_EQ(files().size(), 5u);  // too much, but somebody looked a moment ago
    age(directory + "/.swept", 3500);
    ASSERT_TRUE(DiskCache(directory).write(key, "small"));
    EXPECT_EQ(files().size(), 5u);
    age(directory + "/.swept", 3700);
    const DiskCache cache(directory);
    ASSERT_TRUE(cache.write(key, "small"));
    EXPECT_EQ(cache.read(key_of('3'), out), Outcome::Absent);
    EXPECT_EQ(files().size(), 2u);  // the youngest, and the small one

    for (const char c : {'5', '6', '7', '8', '9'})
        ASSERT_TRUE(cache.write(key_of(c), std::string(100000 * (c == '5' ? 6 : 1), c)));
    EXPECT_EQ(cache.read(key_of('4'), out), Outcome::Absent);  // gone within the hour
    EXPECT_EQ(cache.read(key_of('9'), out), Outcome::Found);
    age(directory + "/.swept", -24 * 3600);  // a clock that was wrong once
    ASSERT_TRUE(DiskCache(directory).write(key, "small"));
    struct stat status{};
    ASSERT_EQ(::stat((directory + "/.swept").c_str(), &status), 0);
    EXPECT_LE(status.st_mtime, ::time(nullptr));
}

TEST_F(DiskCacheTest, TheLimitIsReadFromTheEnvironment) {
    const testing::ScopedVariable none("TRILANE_CACHE_MIB", nullptr);
    EXPECT_EQ(DiskCache::limit_bytes(), uint64_t{2} << 30);
    const testing::ScopedVariable five("TRILANE_CACHE_MIB", "5");
    EXPECT_EQ(DiskCache::limit_bytes(), uint64_t{5} << 20);
    for (const char* nonsense : {"much", "0", "-3"}) {
        const testing::ScopedVariable bad("TRILANE_CACHE_MIB", nonsense);
        EXPECT_EQ(DiskCache::limit_bytes(), DiskCache::kMostBytes) << nonsense;
    }
}

TEST_F(DiskCacheTest, ThreadsAndProcessesReadAndWriteOneKey) {
    const std::string payloads[2] = {std::string(200000, 'p'), std::string(300000, 'q')};
    const auto hammer = [&](const DiskCache& cache, int rounds, int which) {
        bool good = true;
        for (int i = 0; i < rounds; ++i) {
            good = cache.write(key, payloads[(i + which) % 2]) && good;
            std::string got;
            good = cache.read(key, got) == Outcome::Found &&
                   (got == payloads[0] || got == payloads[1]) && good;
        }
        return good;
    };
    {
        const DiskCache cache(directory);
    }
    std::vector<pid_t> children;
    for (int c = 0; c < 3; ++c) {
        children.push_back(::fork());
        if (children.back() == 0) {
            const DiskCache cache(directory);
            ::_exit(hammer(cache, 60, c) ? 0 : 1);
        }
    }
    const DiskCache cache(directory);
    std::vector<std::thread> threads;
    std::vector<char> good(4);
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] { good[static_cast<size_t>(t)] = hammer(cache, 60, t); });
    for (std::thread& thread : threads) thread.join();
    for (const char g : good) EXPECT_TRUE(g);
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_EQ(files().size(), 1u);
}

TEST(HashHex, IsXxh3Of128Bits) {
    EXPECT_EQ(hash_hex(""), "99aa06d3014798d86001c324468d497f");
    EXPECT_NE(hash_hex("a"), hash_hex("b"));
    EXPECT_EQ(hash_hex("a").size(), 32u);
}

}  // namespace
}  // namespace trilane::core
