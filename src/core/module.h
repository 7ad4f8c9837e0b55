// Modules and their functions: code loaded on a device.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/compile_cache.h"
#include "core/context.h"

namespace trilane::core {

class Function;
class Module;
using FunctionPtr = std::shared_ptr<Function>;
using ModulePtr = std::shared_ptr<Module>;

class Module : public std::enable_shared_from_this<Module> {
  public:
    // Compiles (through the cache) and loads.
    static ModulePtr compile(const ContextPtr& context, const Program& program);
    // Loads an image as it is: the device finds out what it is.
    static ModulePtr load(const ContextPtr& context, ImagePtr image);
    // Links pieces of compiled code and loads the result; nothing is kept on disk.
    static ModulePtr link(const ContextPtr& context, std::span<const LinkInput> inputs,
                          const LinkOptions& options = {});
    ~Module();

    const ContextPtr& context() const { return context_; }
    const Image& image() const { return *image_; }
    // `name`: a name expression of the program, an extern "C" name or a mangled one. NotFound lists
    // what there is. One object per function while somebody holds it.
    FunctionPtr function(std::string_view name);
    SymbolInfo global(std::string_view name);
    std::vector<std::string> function_names();

  private:
    Module(ContextPtr context, ImagePtr image, RawModule raw);
    std::string lowered_name(std::string_view name) const;
    ContextPtr context_;
    ImagePtr image_;
    RawModule raw_;
    std::mutex mutex_;
    std::unordered_map<std::string, std::weak_ptr<Function>> functions_;  // by lowered name
};

class Function {
  public:
    Function(ModulePtr module, FunctionInfo info);
    const ModulePtr& module() const { return module_; }
    const ContextPtr& context() const { return module_->context(); }
    const FunctionInfo& info() const { return info_; }
    const std::string& name() const { return info_.name; }
    // CUfunction_attribute numbers; 8, MAX_DYNAMIC_SHARED_SIZE_BYTES, raises what launches may ask.
    void set_attribute(int attribute, int value);
    // Blocks of that many threads that fit on one multiprocessor.
    int occupancy(int block_threads, size_t shared_bytes);

  private:
    ModulePtr module_;
    FunctionInfo info_;
};

}  // namespace trilane::core
