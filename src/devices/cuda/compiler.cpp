// One run of NVRTC for a program, and what is made of its log.
#include "devices/cuda/compiler.h"

#include <memory>
#include <vector>

#include "core/error.h"
#include "devices/cuda/compile_inputs.h"
#include "devices/cuda/compile_options.h"
#include "devices/cuda/kernel_signature.h"
#include "devices/cuda/kernel_source.h"

namespace trilane::cuda {
namespace {

using core::ErrorKind;

// One program of NVRTC's.
class Run {
  public:
    Run(const NvrtcTable& nvrtc, const core::Program& program, const std::string& source,
        const CompileInputs& inputs)
        : nvrtc_(nvrtc) {
        std::vector<const char*> texts, names;
        for (const core::Header& header : inputs.headers) {
            texts.push_back(header.text.c_str());
            names.push_back(header.name.c_str());
        }
        require(
            nvrtc_.nvrtcCreateProgram(&program_, source.c_str(), program.file_name.c_str(),
                                      static_cast<int>(texts.size()), texts.data(), names.data()),
            "nvrtcCreateProgram");
    }
    ~Run() { nvrtc_.nvrtcDestroyProgram(&program_); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void add_name(const std::string& expression) {
        require(nvrtc_.nvrtcAddNameExpression(program_, expression.c_str()),
                "nvrtcAddNameExpression");
    }

    bool compile(const std::vector<std::string>& options) {
        std::vector<const char*> words;
        for (const std::string& option : options) words.push_back(option.c_str());
        result_ =
            nvrtc_.nvrtcCompileProgram(program_, static_cast<int>(words.size()), words.data());
        return result_ == 0;
    }

    std::string log() const {
        std::string text = read(nvrtc_.nvrtcGetProgramLogSize, nvrtc_.nvrtcGetProgramLog, "log");
        while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
        return text.empty() ? text : text + "\n";
    }
    const char* result_text() const { return nvrtc_.nvrtcGetErrorString(result_); }
    std::string cubin() const {
        return read(nvrtc_.nvrtcGetCUBINSize, nvrtc_.nvrtcGetCUBIN, "cubin");
    }
    std::string ptx() const {
        std::string text = read(nvrtc_.nvrtcGetPTXSize, nvrtc_.nvrtcGetPTX, "PTX");
        while (!text.empty() && text.back() == '\0') text.pop_back();
        return text;
    }
    std::string lowered(const std::string& expression) const {
        const char* name = nullptr;
        require(nvrtc_.nvrtcGetLoweredName(program_, expression.c_str(), &name),
                "nvrtcGetLoweredName");
        return name;
    }

  private:
    void require(int result, const char* call) const {
        if (result == 0) return;
        core::throw_error(ErrorKind::CompileError, "compile: {}: {}", call,
                          nvrtc_.nvrtcGetErrorString(result));
    }
    std::string read(int (*size)(NvrtcProgram, size_t*), int (*get)(NvrtcProgram, char*),
                     const char* what) const {
        size_t nbytes = 0;
        require(size(program_, &nbytes), what);
        std::string bytes(nbytes, '\0');
        if (nbytes != 0) require(get(program_, bytes.data()), what);
        return bytes;
    }

    const NvrtcTable& nvrtc_;
    NvrtcProgram program_ = nullptr;
    int result_ = 0;
};

// What a log means that does not say it itself.
struct Hint {
    const char* part_of_log;
    const char* text;
};
constexpr Hint kHints[] = {
    {"could not open source file",
     "note: headers are looked for among those given with the program, below the -I directories, "
     "and in the CUDA toolkit that NVRTC belongs to; pip install nvidia-cuda-runtime "
     "nvidia-cuda-crt nvidia-cuda-cccl brings its headers\n"},
    {"cannot open source file",
     "note: headers are looked for among those given with the program, below the -I directories, "
     "and in the CUDA toolkit that NVRTC belongs to; pip install nvidia-cuda-runtime "
     "nvidia-cuda-crt nvidia-cuda-cccl brings its headers\n"},
    {"required runtime APIs are not declared",
     "note: a kernel that launches kernels (dynamic parallelism) must be compiled with "
     "-rdc=true\n"},
    {"A function without execution space annotations",
     "note: the option -default-device makes functions without __device__ device code\n"},
};

[[noreturn]] void throw_compile_error(std::string log, const char* result) {
    const size_t at = log.find("error");
    const size_t start = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
    std::string first = log.substr(start, log.find('\n', start) - start);
    for (const Hint& hint : kHints)
        if (log.find(hint.part_of_log) != std::string::npos) {
            log += hint.text;
            break;
        }
    core::throw_error_with_detail(ErrorKind::CompileError,
                                  "compile: " + (first.empty() ? std::string(result) : first),
                                  std::move(log));
}

// Words whose meaning -minimal takes away: textures, launches from kernels, the runtime's types.
bool fits_minimal(const CompileInputs& inputs) {
    if (inputs.includes_toolkit) return false;
    for (const char* word : {"tex", "surf", "cuda", "<<<", "dim3", "asm"})
        if (inputs.all_text.find(word) != std::string::npos) return false;
    return true;
}

// Of a program alone in its image: what is linked into it is the runtime of kernels.
bool uses_runtime(const CompileInputs& inputs) {
    return inputs.all_text.find("<<<") != std::string::npos ||
           inputs.all_text.find("cuda") != std::string::npos;
}

// What one run of NVRTC is asked; taken back step by step where it was asked too much.
struct Attempt {
    std::string arch;
    std::vector<std::string> options;
    std::vector<SourceKernel> kernels;  // that get a signature
    const char* unlinked;  // the format of code that must be linked yet; null: ready to run
    bool minimal;          // leave out what needs time and is seldom used
};

// True with the image; false if it should be tried again as `attempt` now says.
bool try_compile(const NvrtcTable& nvrtc, const core::Program& program, const CompileInputs& inputs,
                 Attempt& attempt, core::Image& image) {
    std::string source = program.source;
    if (!attempt.kernels.empty()) source += signature_text(attempt.kernels);
    Run run(nvrtc, program, source, inputs);
    for (const std::string& name : program.name_expressions) run.add_name(name);
    for (const SourceKernel& kernel : attempt.kernels) run.add_name(signature_expression(kernel));
    std::vector<std::string> words = attempt.options;
    if (attempt.minimal) words.push_back("-minimal");
    if (run.compile(words)) {
        const bool real = attempt.arch.starts_with("sm_");
        image.format = attempt.unlinked != nullptr ? attempt.unlinked : real ? "cubin" : "ptx";
        image.bytes = real ? run.cubin() : run.ptx();
        image.log = run.log();
        for (const std::string& name : program.name_expressions)
            image.lowered_names[name] = run.lowered(name);
        return true;
    }
    const std::string log = run.log();
    // A name that only looked like a kernel, or a need that was overlooked: once more without.
    const bool ours = log.find(kSignatureNamespace) != std::string::npos;
    if (ours && !attempt.kernels.empty()) {
        attempt.kernels.clear();
    } else if (attempt.minimal) {
        attempt.minimal = false;
    } else {
        throw_compile_error(log, run.result_text());
    }
    return false;
}

}  // namespace

Compiler::Compiler(int driver_major, int arch) : file_(find_nvrtc(driver_major)), arch_(arch) {}

std::string Compiler::name() const {
    const NvrtcTable& nvrtc = open_nvrtc(file_.path);
    return fmt::format("NVRTC {}.{}", nvrtc.major, nvrtc.minor);
}

std::string Compiler::id() const {
    std::string text = fmt::format("nvrtc {} sm_{} format=3", file_.identity, arch_);
    for (const std::string& folder : file_.includes) text += " " + folder;
    return text;
}

// An older architecture than the device's is kept, as PTX that the driver finishes, unless its code
// runs as it is (same major version): kernels test __CUDA_ARCH__.
std::string Compiler::target(const NvrtcTable& nvrtc, const std::string& asked) const {
    if (!asked.empty()) {
        const int number = arch_number(asked);
        const bool runs = number / 10 == arch_ / 10 && number <= arch_;
        if (asked.starts_with("compute_") || runs || number > arch_) return asked;
        return fmt::format("compute_{}", number);
    }
    if (nvrtc.makes(arch_)) return fmt::format("sm_{}", arch_);
    const int older = nvrtc.newest_below(arch_);
    if (older == 0)
        core::throw_error(ErrorKind::NotSupported,
                          "compile: {} makes no code for this device: got architecture {}, "
                          "expected {} or newer: install an older NVRTC",
                          name(), arch_, nvrtc.archs.empty() ? 0 : nvrtc.archs.front());
    // Code of the same major version runs as it is; else the driver finishes PTX.
    return fmt::format("{}_{}", older / 10 == arch_ / 10 ? "sm" : "compute", older);
}

core::Image Compiler::compile(const core::Program& program) const {
    const NvrtcTable& nvrtc = open_nvrtc(file_.path);
    const NvrtcOptions parsed = parse_options(program.options);
    CompileInputs inputs = find_inputs(program, parsed.include_dirs);
    const char* unlinked = parsed.object                                ? "object"
                           : parsed.relocatable && uses_runtime(inputs) ? "relocatable"
                                                                        : nullptr;
    Attempt attempt{target(nvrtc, parsed.arch), {}, {}, unlinked, fits_minimal(inputs)};
    if (unlinked != nullptr) attempt.options.push_back("--relocatable-device-code=true");
    attempt.options.insert(attempt.options.end(), parsed.words.begin(), parsed.words.end());
    attempt.options.insert(attempt.options.end(), inputs.options.begin(), inputs.options.end());
    attempt.options.push_back("--device-int128");
    attempt.options.push_back("--gpu-architecture=" + attempt.arch);
    if (inputs.includes_toolkit)
        for (const std::string& folder : file_.includes) attempt.options.push_back("-I" + folder);
    if (parsed.language != "c++11" && parsed.language != "c++03")
        attempt.kernels = find_c_kernels(program.source);
    core::Image image;
    while (!try_compile(nvrtc, program, inputs, attempt, image)) {
    }
    image.files = std::move(inputs.files);
    return image;
}

}  // namespace trilane::cuda
