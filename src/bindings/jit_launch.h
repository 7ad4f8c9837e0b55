// Launches of translated kernels: types of the arguments -> specialisation -> packed launch.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "bindings/jit_arguments.h"
#include "core/launch.h"
#include "jit/translate.h"

namespace trilane::bindings {

// A kernel compiled for argument types, on one device.
struct Variant {
    // Sets `parameters` and where their bytes lie when they are packed one after another.
    void set_parameters(std::vector<jit::TypeRef> types);
    std::vector<jit::TypeRef> parameters;
    std::vector<uint32_t> places;
    uint32_t packed_size = 0;
    core::FunctionPtr function;
    uint64_t writes = 0;
    bool raises = false, dynamic_shared = false, cooperative = false;
    nb::object failures;  // called with (site, block, thread) when the kernel raised
};

// The compiled side of an @cuda.jit function. Threads: the GIL guards the list.
class KernelDispatcher {
  public:
    // `owner` gives convert(), element_code(), compact() and compile(codes): see dispatcher.py.
    explicit KernelDispatcher(nb::object owner) : owner_(std::move(owner)) {}
    void add(const std::vector<std::string>& codes, std::shared_ptr<Variant> variant);
    // Whatever the argument types, run `variant`, converting numbers: kernels with one signature.
    void specialise(std::shared_ptr<Variant> variant, int device) {
        only_ = std::move(variant), only_device_ = device;
    }
    void launch(const core::LaunchConfig& config, nb::handle arguments);
    // The same for device arrays and numbers of types that were met before, with nothing
    // allocated. False, with nothing started, if that is not what is given. `started` is set
    // before the device may have seen the launch.
    bool launch_plain(const core::LaunchConfig& config, PyObject* const* arguments, size_t count,
                      bool& started);
    nb::object owner() const { return owner_; }

  private:
    struct Entry {
        int device;
        std::vector<jit::TypeRef> types;
        std::shared_ptr<Variant> variant;
    };
    std::shared_ptr<Variant> find(const KernelArguments& arguments, int device);
    const Variant* known(const jit::TypeRef* types, size_t count, int device) const;
    nb::object owner_;
    std::vector<Entry> entries_;
    std::shared_ptr<Variant> only_;
    int only_device_ = 0;
};

// _core.jit.ConfiguredCall, the base of numba's configured kernels: see jit_call.cpp.
void bind_configured_call(nb::module_& m);

// A dispatcher with grid, block, stream and dynamic shared memory.
struct ConfiguredKernel {
    std::shared_ptr<KernelDispatcher> dispatcher;
    core::LaunchConfig config;
};

}  // namespace trilane::bindings
