// What TRILANE_DUMP leaves.
#include "core/program_dump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/disk_cache.h"
#include "core/env.h"

namespace trilane::core {
namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return std::string((std::istreambuf_iterator<char>(file)), {});
}

struct DumpFolder {
    DumpFolder() {
        path =
            std::filesystem::temp_directory_path() / ("trilane-dump-" + std::to_string(::getpid()));
        ::setenv("TRILANE_DUMP", path.c_str(), 1);
        reset_env_for_tests();
    }
    ~DumpFolder() {
        std::filesystem::remove_all(path);
        ::unsetenv("TRILANE_DUMP");
        reset_env_for_tests();
    }
    std::filesystem::path path;
};

TEST(ProgramDump, LeavesSourceAndDescription) {
    DumpFolder folder;
    Program program;
    program.source = "// \"text\"\n";
    program.options = {"-DN=4", "-DS=\"a\\b\""};
    program.headers = {{"a.h", "int\tx;\n"}};
    program.name_expressions = {"k<float>"};
    dump_program(program, "k1");
    EXPECT_EQ(read(folder.path / "k1.cu"), program.source);
    const std::string header = hash_hex("int\tx;\n") + ".h";
    EXPECT_EQ(read(folder.path / header), "int\tx;\n");
    EXPECT_EQ(read(folder.path / "k1.json"),
              "{\n  \"file_name\": \"kernel.cu\",\n"
              "  \"options\": [\"-DN=4\", \"-DS=\\\"a\\\\b\\\"\"],\n"
              "  \"name_expressions\": [\"k<float>\"],\n"
              "  \"headers\": {\n    \"a.h\": \"" +
                  header + "\"}\n}\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path),
                            std::filesystem::directory_iterator()),
              3)
        << "no half-written files stay";
}

TEST(ProgramDump, DoesNothingUnasked) {
    reset_env_for_tests();
    dump_program(Program{}, "k2");
    EXPECT_FALSE(std::filesystem::exists("k2.cu"));
}

}  // namespace
}  // namespace trilane::core
