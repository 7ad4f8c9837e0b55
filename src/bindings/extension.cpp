// The extension trilane._core: registers the devices and binds every topic. The only file that
// names devices.
#include <dlfcn.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "bindings/bindings.h"
#include "bindings/graph.h"
#include "bindings/locate.h"
#include "core/background.h"
#include "core/env.h"
#include "core/error.h"
#include "core/memory_pool.h"
#include "core/registry.h"
#include "devices/cpu/entry.h"
#include "devices/cuda/entry.h"

namespace trilane::bindings {
namespace {

using core::ErrorKind;

// --- what devices call back

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void log_line(std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void report(const core::CheckReport& finding) {
    std::fprintf(stderr, "%s\n", finding.text.c_str());
    std::fflush(stderr);
}

// Python's own handler ends what runs by KeyboardInterrupt. A handler of the program's may do
// anything, and can only run once the call is over.
bool interrupt_stops() {
    nb::detail::cleanup_guard guard{};
    if (!guard) return false;
    try {
        nb::module_ signal = nb::module_::import_("signal");
        return signal.attr("getsignal")(signal.attr("SIGINT"))
            .is(signal.attr("default_int_handler"));
    } catch (const nb::python_error&) {
        return false;
    }
}

// Of the main thread, where Python runs its handlers of signals: one that raises ends the wait.
constexpr core::WaitHooks kWaitHooks{[] { return ::getpid() == ::gettid(); },
                                     [] {
                                         nb::gil_scoped_acquire locked;
                                         if (PyErr_CheckSignals() != 0) nb::raise_python_error();
                                     }};

const core::DeviceHooks& hooks() {
    static const core::DeviceHooks& instance =
        *new core::DeviceHooks{print, log_line, report, interrupt_stops};
    return instance;
}

// --- the cpu device: its own library beside this one, opened on first use

std::filesystem::path own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || !info.dli_fname) return ".";
    return std::filesystem::absolute(info.dli_fname).parent_path();
}

using CreateCpu = decltype(&trilane_cpu_create);

std::string cpu_library_path() {
    if (std::optional<std::string> given = core::env_string("TRILANE_CPU_LIBRARY")) return *given;
    return (own_folder() / "libtrilane_cpu.so").string();
}

CreateCpu load_cpu_library() {
    const std::string path = cpu_library_path();
    // Not DEEPBIND: the library exports two symbols and hides the rest, so nothing can be mistaken
    // for another LLVM's; and with DEEPBIND it would miss a preloaded malloc that frees its memory.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        core::throw_error(ErrorKind::DeviceError,
                          "the cpu device cannot be opened: {}: reinstall Trilane, or build the "
                          "target trilane_cpu",
                          dlerror());
    auto abi = reinterpret_cast<decltype(&trilane_cpu_abi)>(dlsym(library, "trilane_cpu_abi"));
    auto create = reinterpret_cast<CreateCpu>(dlsym(library, "trilane_cpu_create"));
    if (!abi || !create)
        core::throw_error(ErrorKind::DeviceError,
                          "the cpu device cannot be opened: {} is not a device library", path);
    if (abi() != kTrilaneCpuAbi)
        core::throw_error(ErrorKind::NotSupported,
                          "the cpu device cannot be opened: {} is of another version: got "
                          "interface {}, expected {}: reinstall Trilane",
                          path, abi(), kTrilaneCpuAbi);
    return create;
}

std::unique_ptr<core::Device> create_cpu(int ordinal) {
    static std::mutex mutex;
    static CreateCpu create = nullptr;
    std::lock_guard lock(mutex);
    if (!create) create = load_cpu_library();
    char why[1024] = "";
    core::Device* device = create(ordinal, &hooks(), why, sizeof why);
    if (!device)
        core::throw_error(ErrorKind::DeviceError, "the cpu device cannot be started: {}", why);
    return std::unique_ptr<core::Device>(device);
}

core::DeviceFactory cpu_factory() {
    core::DeviceFactory factory;
    factory.type = core::DeviceType::Cpu;
    factory.count = [](int asked, std::string& why_not) {
        std::error_code ignored;
        if (const std::string path = cpu_library_path(); !std::filesystem::exists(path, ignored)) {
            why_not = fmt::format("not built: there is no {}: build with TRILANE_CPU=ON", path);
            return 0;
        }
        return asked > 0 ? asked : 1;
    };
    factory.create = create_cpu;
    return factory;
}

// Memory may be held by reference cycles of the user's.
void collect_garbage() {
    if (nb::detail::cleanup_guard guard{}) PyGC_Collect();
}

// A compiler must not run while the process's statics go. Who does not want to wait for it any
// longer interrupts once more: Python handles no signals by now.
void finish_compiles() {
    if (!core::background_is_busy()) return;
    struct sigaction before, plain{};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGINT, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(SIGINT, &plain, nullptr);
    core::finish_background();
    ::sigaction(SIGINT, &before, nullptr);
}

// Work in flight ends before the interpreter does.
void synchronize_all() {
    nb::gil_scoped_release unlocked;
    finish_compiles();
    for (const core::ContextPtr& context : core::live_contexts()) {
        try {
            context->device().synchronize();
        } catch (const std::exception& error) {
            core::report_cleanup_failure("synchronize at exit", error.what());
        }
    }
}

}  // namespace
}  // namespace trilane::bindings

NB_MODULE(_core, m) {
    using namespace trilane::bindings;
    m.doc() = "The core of Trilane: devices, streams, memory, programs. Stubs: _core.pyi.";
    nb::set_leak_warnings(false);  // module-level objects of users live until the process ends
    trilane::core::MemoryPool::set_collector(collect_garbage);
    trilane::core::set_wait_hooks(kWaitHooks);
    trilane::core::register_device_factory(trilane::cuda::cuda_factory(hooks()));
    trilane::core::register_device_factory(cpu_factory());
    // Before NumPy is imported by what follows; see trilane/_early.py.
    if (nb::cast<bool>(nb::module_::import_("trilane._early").attr("wanted")))
        trilane::core::start_early();
    bind_errors(m);
    bind_device(m);
    bind_graph(m);
    bind_stream(m);
    bind_memory(m);
    bind_copy(m);
    bind_texture(m);
    bind_dlpack(m);
    bind_peer(m);
    bind_ipc(m);
    bind_nvtx(m);
    bind_module(m);
    bind_kernel_calls(m);
    nb::module_ array = m.def_submodule("array", "The array type that all faces share.");
    bind_array(array);
    nb::module_ jit = m.def_submodule("jit", "Python kernels.");
    bind_jit(jit);
#ifdef TRILANE_TESTS
    nb::module_ testing = m.def_submodule("testing", "Hooks of the tests; not in releases.");
    bind_testing(testing, trilane::cuda::launch_raw);
    testing.def("has_nvrtc", trilane::cuda::has_compiler,
                "Whether this machine has NVRTC, or TRILANE_NVRTC asks for one.");
    testing.def(
        "compile_cuda",
        [](std::string source, std::vector<std::string> options,
           std::vector<std::pair<std::string, std::string>> headers, std::vector<std::string> names,
           std::string file_name, int arch) {
            trilane::core::Program program;
            program.source = std::move(source);
            program.file_name = std::move(file_name);
            program.options = std::move(options);
            for (auto& [name, text] : headers)
                program.headers.push_back({std::move(name), std::move(text)});
            program.name_expressions = std::move(names);
            nb::gil_scoped_release unlocked;
            return trilane::cuda::compile_log(program, arch);
        },
        nb::arg("source"), nb::arg("options"), nb::arg("headers"), nb::arg("names"),
        nb::arg("file_name"), nb::arg("arch"),
        "What NVRTC says of a text as the cuda device gives it to it; needs no GPU.");
#endif
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&synchronize_all));
}
