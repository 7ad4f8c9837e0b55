// A fake NVRTC: finds the kernels of a text and writes what testing/fake_driver.cpp loads. Built as
// a shared library of its own. A text with the word "refuse" is refused.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "devices/cuda/kernel_source.h"

namespace {

struct Program {
    std::string source, log, image;
    std::vector<std::string> names;
};

constexpr int kCompilation = 6;

// TRILANE_FAKE_PARAMETERS="NAME SIZE...;NAME SIZE...": the bytes of the parameters of kernels whose
// types only a compiler can size. " SIZE..." or nothing.
std::string given_sizes(const std::string& kernel) {
    const char* given = std::getenv("TRILANE_FAKE_PARAMETERS");
    if (given == nullptr) return {};
    const std::string text = ";" + std::string(given) + ";", start = ";" + kernel + " ";
    const size_t at = text.find(start);
    if (at == std::string::npos) return {};
    const size_t first = at + start.size() - 1;
    return text.substr(first, text.find(';', first) - first);
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 9;
    return 0;
}
EXPORTED const char* nvrtcGetErrorString(int result) {
    return result == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION";
}
EXPORTED int nvrtcGetNumSupportedArchs(int* count) {
    *count = 2;
    return 0;
}
EXPORTED int nvrtcGetSupportedArchs(int* archs) {
    archs[0] = 80;
    archs[1] = 90;
    return 0;
}
EXPORTED int nvrtcCreateProgram(Program** program, const char* source, const char*, int,
                                const char* const*, const char* const*) {
    *program = new Program{source, {}, {}, {}};
    return 0;
}
EXPORTED int nvrtcDestroyProgram(Program** program) {
    delete *program;
    *program = nullptr;
    return 0;
}
EXPORTED int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
    if (program->source.find("refuse") != std::string::npos) {
        program->log = "kernel.cu(1): error: refused\n";
        return kCompilation;
    }
    program->image = ".version 9.0\n.target sm_90\n";
    for (int i = 0; i < count; ++i)
        if (std::strcmp(options[i], "--relocatable-device-code=true") == 0)
            program->image += ".unlinked\n";
    if (program->source.find("<<<") != std::string::npos)
        program->image += ".calls cudaLaunchDeviceV2\n";
    for (const auto& kernel : trilane::cuda::find_c_kernels(program->source)) {
        program->image += ".entry " + kernel.name;
        if (const std::string known = given_sizes(kernel.name); !known.empty()) {
            program->image += known + "\n";
            continue;
        }
        for (size_t i = 0; i < kernel.parameters.size(); ++i)
            program->image += kernel.parameters[i] == "n" ? " 4" : " 8";
        program->image += "\n";
    }
    return 0;
}
EXPORTED int nvrtcAddNameExpression(Program* program, const char* expression) {
    program->names.emplace_back(expression);
    return 0;
}
EXPORTED int nvrtcGetLoweredName(Program* program, const char* expression, const char** name) {
    for (const std::string& known : program->names)
        if (known == expression) *name = known.c_str();
    return 0;
}
EXPORTED int nvrtcGetProgramLogSize(Program* program, size_t* nbytes) {
    *nbytes = program->log.size() + 1;
    return 0;
}
EXPORTED int nvrtcGetProgramLog(Program* program, char* text) {
    std::memcpy(text, program->log.c_str(), program->log.size() + 1);
    return 0;
}
EXPORTED int nvrtcGetCUBINSize(Program* program, size_t* nbytes) {
    *nbytes = program->image.size();
    return 0;
}
EXPORTED int nvrtcGetCUBIN(Program* program, char* bytes) {
    std::memcpy(bytes, program->image.data(), program->image.size());
    return 0;
}
EXPORTED int nvrtcGetPTXSize(Program* program, size_t* nbytes) {
    *nbytes = program->image.size() + 1;
    return 0;
}
EXPORTED int nvrtcGetPTX(Program* program, char* text) {
    std::memcpy(text, program->image.c_str(), program->image.size() + 1);
    return 0;
}
