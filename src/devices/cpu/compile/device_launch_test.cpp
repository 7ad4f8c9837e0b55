// Launches found in a text and written as calls.
#include "devices/cpu/compile/device_launch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trilane::cpu {
namespace {

std::string rewritten(const std::string& source) { return rewrite_device_launches(source).source; }
std::vector<std::string> kernels(const std::string& source) {
    return rewrite_device_launches(source).kernels;
}
using Names = std::vector<std::string>;

TEST(DeviceLaunch, BecomesACall) {
    EXPECT_EQ(rewritten("{ f<<<g, b, 4, s>>>(x, y); }"),
              "{ ::trilane_device::launch<decltype(&f)>(\"f\", g, b, 4, s)(x, y); }");
}

TEST(DeviceLaunch, NamesWithNamespacesAndTemplateArguments) {
    EXPECT_EQ(kernels("a::f<<<1, 1>>>(); ::b<<<1, 1>>>(); f<int><<<1, 1>>>();"),
              (Names{"a::f", "::b", "f<int>"}));
    EXPECT_EQ(kernels("f<unsigned  int,\n g<h<3>>><<<1, 1>>>(2); f<unsigned int, g<h<3>>> <<<1,1>>>"
                      "();"),
              (Names{"f<unsigned int,g<h<3>>>"}));
}

TEST(DeviceLaunch, ConfigurationsWithParentheses) {
    EXPECT_EQ(kernels("f<<<dim3((n + 1) / 2, a[i], 1), dim3{1, 2, 3}>>>(g(1), 2);"), Names{"f"});
    EXPECT_NE(rewritten("f<<<dim3((n + 1) / 2), b>>>();").find("dim3((n + 1) / 2), b)()"),
              std::string::npos);
}

TEST(DeviceLaunch, TextWithoutLaunchesStays) {
    for (const char* text :
         {"", "a << b >> c;", "// f<<<1, 1>>>()\n", "/* f<<<1, 1>>>() */", "\"f<<<1, 1>>>()\"",
          "R\"(f<<<1, 1>>>())\"", "a <<< 3;", "(f)<<<1, 1>>>();", "f<<<1, 1>>>;", "f<<<1, 1)>>>();",
          "<<<1, 1>>>()", "f<<<", "f<<<(", "x > <<<1, 1>>>()"})
        EXPECT_EQ(rewritten(text), text);
}

TEST(DeviceLaunch, LinesStayWhereTheyAre) {
    std::string text = "f<\n3>\n<<<1,\n 1>>>(\n);\nlast";
    std::string result = rewritten(text);
    EXPECT_EQ(std::count(result.begin(), result.end(), '\n'),
              std::count(text.begin(), text.end(), '\n'));
}

TEST(DeviceLaunch, EndlessTextsTakeLinearTime) {
    for (const char* part :
         {"f<<<", "f<<<(", "f> <<<", "<", ">", "f<<<1>>>", "(", "f<<<1,1>>>()"}) {
        std::string text;
        for (int i = 0; i < 200000; ++i) text += part;
        EXPECT_LE(kernels(text).size(), 1u) << part;
    }
}

TEST(DeviceLaunch, EveryKernelIsNamedOnce) {
    EXPECT_EQ(kernels("f<<<1, 1>>>(); g<<<1, 1>>>(); f<<<2, 2>>>();"), (Names{"f", "g"}));
}

}  // namespace
}  // namespace trilane::cpu
