// Finding NVRTC and its headers, and filling its table.
#include "devices/cuda/nvrtc_table.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/env.h"
#include "core/error.h"

namespace trilane::cuda {
namespace {

namespace fs = std::filesystem;
using core::ErrorKind;
using core::throw_error;

constexpr int kOldestMajor = 12;
constexpr const char* kTarget =
#ifdef __aarch64__
    "sbsa-linux";
#else
    "x86_64-linux";
#endif

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

void add(std::vector<std::string>& list, const fs::path& path) {
    std::string text = path.string();
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

// The part of a path up to its last "site-packages" or "dist-packages".
std::optional<std::string> packages_folder(const std::string& path) {
    for (const char* name : {"/site-packages/", "/dist-packages/"})
        if (const size_t at = path.rfind(name); at != std::string::npos)
            return path.substr(0, at + std::char_traits<char>::length(name) - 1);
    return std::nullopt;
}

// Folders of Python packages that libraries of this process came from: ours and NumPy's at least.
std::vector<std::string> python_folders() {
    std::vector<std::string> folders;
    auto visit = [](dl_phdr_info* info, size_t, void* data) {
        auto& list = *static_cast<std::vector<std::string>*>(data);
        if (info->dlpi_name == nullptr) return 0;
        if (auto folder = packages_folder(info->dlpi_name)) add(list, *folder);
        return 0;
    };
    dl_iterate_phdr(visit, &folders);
    return folders;
}

void add_toolkit(std::vector<std::string>& list, const fs::path& root) {
    if (root.empty() || !is_folder(root)) return;
    add(list, root / "lib64");
    add(list, root / "targets" / kTarget / "lib");
    add(list, root / "lib");
}

std::vector<std::string> installed_toolkits(int major) {
    std::vector<std::string> roots;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(fmt::format("cuda-{}", major))) roots.push_back(entry.path().string());
    }
    std::sort(roots.rbegin(), roots.rend());  // newest first
    roots.insert(roots.begin(), "/usr/local/cuda");
    return roots;
}

// Folders that may hold libnvrtc.so.MAJOR, best first.
std::vector<std::string> folders_of(int major) {
    std::vector<std::string> folders;
    for (const std::string& packages : python_folders()) {
        add(folders, fs::path(packages) / "nvidia" / fmt::format("cu{}", major) / "lib");
        add(folders, fs::path(packages) / "nvidia" / "cuda_nvrtc" / "lib");
    }
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* root = std::getenv(name)) add_toolkit(folders, root);
    if (const char* root = std::getenv("CONDA_PREFIX")) add_toolkit(folders, root);
    for (const std::string& root : installed_toolkits(major)) add_toolkit(folders, root);
    return folders;
}

// The library opens its builtins by name only, and newer wheels carry no search path for it: what
// is loaded already is found.
void open_builtins(const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libnvrtc-builtins.so."))
            dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    }
}

std::string file_in(const fs::path& folder, int major) {
    const fs::path file = folder / fmt::format("libnvrtc.so.{}", major);
    std::error_code ignored;
    return fs::exists(file, ignored) ? file.string() : std::string();
}

// By the loader's own paths: only opening tells.
std::string file_of_loader(int major) {
    void* library = dlopen(fmt::format("libnvrtc.so.{}", major).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    Dl_info info{};
    void* symbol = dlsym(library, "nvrtcVersion");
    const bool known = symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr;
    return known ? std::string(info.dli_fname) : std::string();
}

std::string find_file(int driver_major) {
    const auto given = core::env_string("TRILANE_NVRTC");
    const bool only = given && !given->empty();
    if (only && !is_folder(*given)) return *given;
    for (int major = driver_major; major >= kOldestMajor; --major) {
        for (const std::string& folder :
             only ? std::vector<std::string>{*given} : folders_of(major))
            if (std::string file = file_in(folder, major); !file.empty()) return file;
        if (only) continue;
        if (std::string file = file_of_loader(major); !file.empty()) return file;
    }
    return {};
}

[[noreturn]] void throw_not_found(int driver_major) {
    std::string looked;
    for (const std::string& folder : folders_of(driver_major))
        looked += (looked.empty() ? "" : ", ") + folder;
    if (const auto given = core::env_string("TRILANE_NVRTC"); given && !given->empty())
        looked = *given + " (TRILANE_NVRTC)";
    throw_error(
        ErrorKind::NotSupported,
        "NVRTC, the compiler of CUDA kernels, is not found: looked for libnvrtc.so.{} in {} "
        "and the loader's paths: pip install nvidia-cuda-nvrtc{} or set TRILANE_NVRTC to "
        "its folder",
        driver_major, looked, driver_major == 12 ? "-cu12" : "==13.*");
}

// Where the headers that came with a library are.
std::vector<std::string> includes_of(const fs::path& library) {
    std::vector<std::string> found;
    auto offer = [&](const fs::path& folder) {
        if (is_folder(folder)) add(found, folder.lexically_normal());
    };
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(library, error).parent_path();
    const fs::path root = folder.parent_path();
    offer(root / "include");
    offer(root / "targets" / kTarget / "include");
    offer(root / "include" / "cccl");
    offer(root / "targets" / kTarget / "include" / "cccl");
    if (root.filename() == "cuda_nvrtc")  // the wheels of CUDA 12: a folder for each
        for (const char* name : {"cuda_runtime", "cuda_cccl", "curand", "cuda_nvcc"})
            offer(root.parent_path() / name / "include");
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(name)) {
            offer(fs::path(home) / "include");
            offer(fs::path(home) / "include" / "cccl");
        }
    return found;
}

std::string identity_of(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    const auto size = fs::file_size(real, error);
    const auto time = fs::last_write_time(real, error).time_since_epoch().count();
    return fmt::format("{} {} {}", real.string(), size, time);
}

std::unique_ptr<NvrtcTable> load(const std::string& path) {
    auto table = std::make_unique<NvrtcTable>();
    table->path = path;
    open_builtins(fs::path(path).parent_path());
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        throw_error(ErrorKind::NotSupported,
                    "NVRTC cannot be opened: {}: install nvidia-cuda-nvrtc again, or set "
                    "TRILANE_NVRTC to another",
                    dlerror());
    auto look_up = [&](const char* name) {
        void* function = dlsym(library, name);
        if (function == nullptr)
            throw_error(ErrorKind::NotSupported,
                        "NVRTC cannot be used: {} has no {}: install NVRTC 12 or newer", path,
                        name);
        return function;
    };
#define TRILANE_LOOK_UP(name, type, parameters) \
    table->name = reinterpret_cast<decltype(table->name)>(look_up(#name));
    TRILANE_NVRTC_FUNCTIONS(TRILANE_LOOK_UP)
#undef TRILANE_LOOK_UP
    int count = 0;
    if (table->nvrtcVersion(&table->major, &table->minor) != 0 ||
        table->nvrtcGetNumSupportedArchs(&count) != 0 || count < 0)
        throw_error(ErrorKind::NotSupported, "NVRTC cannot be used: {} does not answer", path);
    table->archs.resize(static_cast<size_t>(count));
    table->nvrtcGetSupportedArchs(table->archs.data());
    return table;
}

struct State {
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<NvrtcTable>> tables;  // by path
};

// Never destroyed: compilers in other statics may be used until the process ends.
State& state() {
    static State* const instance = new State;
    return *instance;
}

}  // namespace

bool NvrtcTable::makes(int arch) const {
    return std::find(archs.begin(), archs.end(), arch) != archs.end();
}

int NvrtcTable::newest_below(int arch) const {
    int best = 0;
    for (const int known : archs)
        if (known <= arch) best = std::max(best, known);
    return best;
}

NvrtcFile find_nvrtc(int driver_major) {
    NvrtcFile found;
    found.path = find_file(driver_major);
    if (found.path.empty()) throw_not_found(driver_major);
    found.identity = identity_of(found.path);
    found.includes = includes_of(found.path);
    return found;
}

std::string find_device_runtime(int driver_major) {
    constexpr const char* kFile = "libcudadevrt.a";
    std::vector<std::string> folders;
    if (const auto given = core::env_string("TRILANE_CUDADEVRT"); given && !given->empty()) {
        if (!is_folder(*given)) return *given;
        folders.push_back(*given);
    } else {
        for (int major = driver_major; major >= kOldestMajor; --major)
            for (const std::string& folder : folders_of(major)) {
                add(folders, folder);
                if (fs::path(folder).parent_path().filename() == "cuda_nvrtc")
                    add(folders,
                        fs::path(folder).parent_path().parent_path() / "cuda_runtime" / "lib");
            }
    }
    std::error_code ignored;
    std::string looked;
    for (const std::string& folder : folders) {
        const fs::path file = fs::path(folder) / kFile;
        if (fs::exists(file, ignored)) return file.string();
        looked += (looked.empty() ? "" : ", ") + folder;
    }
    throw_error(ErrorKind::NotSupported,
                "link: the runtime of kernels that launch kernels is not found: looked for {} in "
                "{}: pip install nvidia-cuda-runtime{} or set TRILANE_CUDADEVRT to the file",
                kFile, looked, driver_major == 12 ? "-cu12" : "==13.*");
}

bool nvrtc_is_there(int driver_major) {
    const auto given = core::env_string("TRILANE_NVRTC");
    return (given && !given->empty()) || !find_file(driver_major).empty();
}

const NvrtcTable& open_nvrtc(const std::string& path) {
    State& s = state();
    std::lock_guard lock(s.mutex);
    std::unique_ptr<NvrtcTable>& table = s.tables[path];
    if (table == nullptr) table = load(path);
    return *table;
}

}  // namespace trilane::cuda
