// Programs, modules, functions and launches.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arguments.h"
#include "bindings/bindings.h"
#include "core/error.h"
#include "core/launch.h"
#include "core/program.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;
using Headers = std::vector<std::pair<std::string, std::string>>;
using Names = std::vector<std::string>;
using Pieces = std::vector<std::tuple<std::string, std::string, nb::bytes>>;  // name, format, data

const char* parameter_kind_name(core::ParameterKind kind) {
    switch (kind) {
        case core::ParameterKind::Int:
            return "int";
        case core::ParameterKind::UInt:
            return "uint";
        case core::ParameterKind::Float:
            return "float";
        case core::ParameterKind::Bool:
            return "bool";
        case core::ParameterKind::Pointer:
            return "pointer";
        case core::ParameterKind::Unknown:  // of that size: a value given as bytes
        case core::ParameterKind::Struct:
            return "struct";
    }
    return "struct";
}

core::Program program_of(std::string source, Names options, Headers headers, Names names,
                         std::string file_name) {
    core::Program program;
    program.source = std::move(source);
    program.file_name = std::move(file_name);
    program.options = std::move(options);
    program.name_expressions = std::move(names);
    for (auto& [name, text] : headers)
        program.headers.push_back({std::move(name), std::move(text)});
    return program;
}

core::ModulePtr compile(std::string source, Names options, Headers headers, Names names,
                        std::string file_name, const core::ContextPtr& context) {
    core::Program program = program_of(std::move(source), std::move(options), std::move(headers),
                                       std::move(names), std::move(file_name));
    nb::gil_scoped_release unlocked;
    return core::Module::compile(context_or_current(context), program);
}

nb::bytes compile_image(std::string source, Names options, Headers headers, Names names,
                        std::string file_name, const core::ContextPtr& context) {
    core::Program program = program_of(std::move(source), std::move(options), std::move(headers),
                                       std::move(names), std::move(file_name));
    std::string bytes;
    {
        nb::gil_scoped_release unlocked;
        core::ImagePtr image = context_or_current(context)->compile_cache().get(program);
        bytes = core::serialize_image(*image);
    }
    return nb::bytes(bytes.data(), bytes.size());
}

// Bytes of image(), or a file of the device's own format.
core::ModulePtr load(nb::bytes data, const core::ContextPtr& context, const std::string& format) {
    std::string bytes(data.c_str(), data.size());
    nb::gil_scoped_release unlocked;
    auto image = std::make_shared<core::Image>();
    if (format.empty()) {
        try {
            *image = core::parse_image(bytes);
        } catch (const core::Error& error) {
            if (error.kind() != core::ErrorKind::InvalidArgument) throw;
            *image = core::Image{};
            image->bytes = std::move(bytes);
        }
    } else {
        image->format = format;
        image->bytes = std::move(bytes);
    }
    return core::Module::load(context_or_current(context), std::move(image));
}

// The device's own word for it, and the code without the envelope of image() and compile_image().
std::tuple<std::string, nb::bytes, std::string> image_code(nb::bytes data) {
    core::Image image = core::parse_image(std::string(data.c_str(), data.size()));
    return {image.format, nb::bytes(image.bytes.data(), image.bytes.size()), image.log};
}

// Each of (name, format, bytes); bytes of image() or of compile_image() are taken too.
core::ModulePtr link(const Pieces& pieces, const core::ContextPtr& context,
                     const core::LinkOptions& options) {
    std::vector<core::LinkInput> inputs;
    for (const auto& [name, format, data] : pieces)
        inputs.push_back({name, format, std::string(data.c_str(), data.size())});
    nb::gil_scoped_release unlocked;
    for (core::LinkInput& input : inputs) {
        if (!input.format.empty()) continue;
        try {
            core::Image image = core::parse_image(input.bytes);
            input.format = std::move(image.format);
            input.bytes = std::move(image.bytes);
            input.lowered_names = std::move(image.lowered_names);
        } catch (const core::Error& error) {
            if (error.kind() != core::ErrorKind::InvalidArgument) throw;
        }
    }
    return core::Module::link(context_or_current(context), inputs, options);
}

void bind_module_class(nb::module_& m) {
    nb::class_<ModuleHandle>(m, "Module", "Code loaded on a device.")
        .def_static("compile", compile, "source"_a, "options"_a = Names{}, nb::kw_only(),
                    "headers"_a = Headers{}, "name_expressions"_a = Names{},
                    "file_name"_a = "kernel.cu", "context"_a.none() = nb::none(),
                    "Compiles CUDA C++ through the cache and loads it.")
        .def_static("load", load, "data"_a, "context"_a.none() = nb::none(), "format"_a = "")
        .def_static(
            "link",
            [](const Pieces& pieces, const core::ContextPtr& context, int max_registers,
               int threads_per_block, int optimization_level, bool line_info, bool debug,
               bool verbose) {
                return link(pieces, context,
                            {max_registers, threads_per_block, optimization_level, line_info, debug,
                             verbose});
            },
            "pieces"_a, "context"_a.none() = nb::none(), nb::kw_only(), "max_registers"_a = 0,
            "threads_per_block"_a = 0, "optimization_level"_a = 4, "line_info"_a = false,
            "debug"_a = false, "verbose"_a = false,
            "Links (name, format, bytes) of compiled code and loads the result.")
        .def_prop_ro("context", [](const ModuleHandle& m) { return m.ptr->context(); })
        .def_prop_ro("log", [](const ModuleHandle& m) { return m.ptr->image().log; })
        .def("image",
             [](const ModuleHandle& m) {
                 std::string bytes = core::serialize_image(m.ptr->image());
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def(
            "function",
            [](const ModuleHandle& m, const std::string& name) {
                nb::gil_scoped_release unlocked;
                return m.ptr->function(name);
            },
            "name"_a)
        .def(
            "get_global",
            [](const ModuleHandle& m, const std::string& name) {
                nb::gil_scoped_release unlocked;
                core::SymbolInfo symbol = m.ptr->global(name);
                return std::pair(symbol.address, symbol.nbytes);
            },
            "name"_a)
        .def("function_names", [](const ModuleHandle& m) {
            nb::gil_scoped_release unlocked;
            return m.ptr->function_names();
        });
    m.def("image_code", image_code, "image"_a,
          "(format, code, compiler's log): what is in the bytes of Module.image() or "
          "compile_image().");
    m.def("compile_image", compile_image, "source"_a, "options"_a = Names{}, nb::kw_only(),
          "headers"_a = Headers{}, "name_expressions"_a = Names{}, "file_name"_a = "kernel.cu",
          "context"_a.none() = nb::none(), "Compiles through the cache; loads nothing.");
}

void bind_parameter(nb::module_& m) {
    using core::Parameter;
    nb::class_<Parameter>(m, "Parameter", "A parameter of a kernel, as the compiler laid it out.")
        .def_ro("name", &Parameter::name)
        .def_ro("c_type", &Parameter::c_type)
        .def_prop_ro("kind", [](const Parameter& p) { return parameter_kind_name(p.kind); })
        .def_ro("size", &Parameter::size)
        .def_ro("align", &Parameter::align)
        .def_ro("pointee_size", &Parameter::pointee_size)
        .def_prop_ro("pointee_kind",
                     [](const Parameter& p) { return parameter_kind_name(p.pointee_kind); })
        .def_ro("pointee_const", &Parameter::pointee_const)
        .def("__repr__", [](const Parameter& p) {
            return fmt::format("<Parameter {} {}: {} bytes>", p.c_type, p.name, p.size);
        });
}

nb::dict attributes_of(const FunctionHandle& self) {
    const core::FunctionAttributes& a = self.ptr->info().attributes;
    nb::dict result;
    result["max_threads_per_block"] = a.max_threads_per_block;
    result["shared_bytes"] = a.shared_bytes;
    result["const_bytes"] = a.const_bytes;
    result["local_bytes"] = a.local_bytes;
    result["num_regs"] = a.num_regs;
    result["ptx_version"] = a.ptx_version;
    result["binary_version"] = a.binary_version;
    result["max_dynamic_shared_bytes"] = a.max_dynamic_shared_bytes;
    return result;
}

// False, with nothing started, if an argument asks for calls before and after the launch.
bool try_launch(const FunctionHandle& self, nb::handle grid, nb::handle block, nb::tuple args,
                size_t shared, const core::StreamPtr& stream, bool loose, bool cooperative) {
    core::LaunchConfig config;
    config.grid = dim_of(grid, "grid");
    config.block = dim_of(block, "block");
    config.shared_bytes = shared;
    config.stream = stream;
    config.cooperative = cooperative;
    ArgumentList arguments(args, *self.ptr, loose);
    if (arguments.has_handlers()) return false;
    nb::gil_scoped_release unlocked;
    core::launch(*self.ptr, config, arguments.span());
    return true;
}

void launch(const FunctionHandle& self, nb::handle grid, nb::handle block, nb::tuple args,
            size_t shared, const core::StreamPtr& stream, bool cooperative) {
    if (!try_launch(self, grid, block, args, shared, stream, false, cooperative))
        core::throw_error(core::ErrorKind::TypeMismatch,
                          "launch of {}: an argument is only a promise of memory, as pycuda's "
                          "In(), Out() and InOut(): pass the memory itself",
                          self.ptr->name());
}

void bind_function(nb::module_& m) {
    nb::class_<FunctionHandle>(m, "Function", "A kernel of a module.")
        .def_prop_ro("name", [](const FunctionHandle& f) { return f.ptr->name(); })
        .def_prop_ro("module", [](const FunctionHandle& f) { return f.ptr->module(); })
        .def_prop_ro("context", [](const FunctionHandle& f) { return f.ptr->context(); })
        .def_prop_ro("signature",
                     [](const FunctionHandle& f) { return core::signature(f.ptr->info()); })
        .def_prop_ro("parameters",
                     [](const FunctionHandle& f) -> nb::object {
                         if (!f.ptr->info().parameters_known) return nb::none();
                         return nb::cast(f.ptr->info().parameters);
                     })
        .def_prop_ro("attributes", attributes_of)
        .def(
            "set_attribute",
            [](const FunctionHandle& f, int attribute, int value) {
                nb::gil_scoped_release unlocked;
                f.ptr->set_attribute(attribute, value);
            },
            "attribute"_a, "value"_a)
        .def(
            "occupancy",
            [](const FunctionHandle& f, int block_threads, size_t shared_bytes) {
                nb::gil_scoped_release unlocked;
                return f.ptr->occupancy(block_threads, shared_bytes);
            },
            "block_threads"_a, "shared_bytes"_a = 0)
        .def("launch", launch, "grid"_a, "block"_a, "args"_a, "shared"_a = 0,
             "stream"_a.none() = nb::none(), "cooperative"_a = false,
             "Puts the kernel on the stream. Arguments are checked against its parameters.")
        .def("try_launch", try_launch, "grid"_a, "block"_a, "args"_a, "shared"_a = 0,
             "stream"_a.none() = nb::none(), "loose"_a = false, "cooperative"_a = false,
             "As launch(), but False, with nothing started, if an argument has "
             "`__trilane_handler__`. With `loose` NumPy scalars convert as Python numbers do.")
        .def("__repr__", [](const FunctionHandle& f) {
            return fmt::format("<Function {}>", core::signature(f.ptr->info()));
        });
}

}  // namespace

void bind_module(nb::module_& m) {
    bind_parameter(m);
    bind_module_class(m);
    bind_function(m);
}

}  // namespace trilane::bindings
