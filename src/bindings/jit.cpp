// _core.jit: translation of Python kernels and their launches.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/arguments.h"
#include "bindings/jit_launch.h"
#include "core/error.h"
#include "jit/translate.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;

// (kind, line, column, end_line, end_column, text, kids): see frontend.py.
jit::NodePtr node_of(nb::handle object) {
    if (object.is_none()) return nullptr;
    nb::tuple parts = nb::cast<nb::tuple>(object);
    auto node = std::make_unique<jit::Node>();
    node->kind = jit::node_kind(nb::cast<std::string>(parts[0]));
    node->line = nb::cast<int>(parts[1]);
    node->column = nb::cast<int>(parts[2]);
    node->end_line = nb::cast<int>(parts[3]);
    node->end_column = nb::cast<int>(parts[4]);
    if (PyBytes_Check(parts[5].ptr())) {
        nb::bytes bytes = nb::cast<nb::bytes>(parts[5]);
        node->text.assign(bytes.c_str(), bytes.size());
    } else {
        node->text = nb::cast<std::string>(parts[5]);
    }
    for (nb::handle kid : nb::cast<nb::list>(parts[6])) node->kids.push_back(node_of(kid));
    return node;
}

jit::FunctionTree function_of(nb::handle object) {
    nb::tuple parts = nb::cast<nb::tuple>(object);
    jit::FunctionTree f;
    f.name = nb::cast<std::string>(parts[0]);
    f.file = nb::cast<std::string>(parts[1]);
    f.first_line = nb::cast<int>(parts[2]);
    f.lines = nb::cast<std::vector<std::string>>(parts[3]);
    f.parameters = nb::cast<std::vector<std::string>>(parts[4]);
    for (nb::handle value : nb::cast<nb::list>(parts[5])) f.defaults.push_back(node_of(value));
    f.star_args = nb::cast<bool>(parts[6]);
    f.captured = nb::cast<std::vector<std::string>>(parts[7]);
    f.inline_mode = nb::cast<std::string>(parts[8]);
    f.body = node_of(parts[9]);
    for (nb::handle one : nb::cast<nb::list>(parts[10])) {
        auto codes = nb::cast<std::vector<std::string>>(one);  // the result, "" if inferred, first
        jit::DeviceSignature s;
        if (!codes[0].empty()) s.result = jit::types::parse(codes[0]);
        for (size_t i = 1; i < codes.size(); ++i)
            s.arguments.push_back(jit::types::parse(codes[i]));
        f.signatures.push_back(std::move(s));
    }
    return f;
}

// Numba's classes of errors live in Python.
[[noreturn]] void raise_kernel_error(const jit::KernelError& error) {
    const char *module = "trilane.numba.core.errors", *name = "TypingError";
    if (error.fault() == jit::Fault::Unsupported) name = "UnsupportedError";
    if (error.fault() == jit::Fault::Resources) {
        module = "trilane.numba.cuda.cudadrv.error";
        name = "LinkerError";
    }
    nb::object cls = nb::module_::import_(module).attr(name);
    PyErr_SetObject(cls.ptr(), nb::str(error.what()).ptr());
    nb::raise_python_error();
}

jit::Translation translate(nb::list functions, const std::vector<std::string>& codes,
                           const std::string& kernel_name, int max_threads, int min_blocks,
                           bool device, const std::string& result, bool debug) {
    jit::Unit unit;
    for (nb::handle f : functions) unit.functions.push_back(function_of(f));
    std::vector<jit::TypeRef> arguments;
    for (const std::string& code : codes) arguments.push_back(jit::types::parse(code));
    jit::TranslateOptions options;
    options.kernel_name = kernel_name;
    options.max_threads = max_threads;
    options.min_blocks = min_blocks;
    options.device_function = device;
    options.debug = debug;
    if (!result.empty()) options.result = jit::types::parse(result);
    try {
        nb::gil_scoped_release unlocked;
        return jit::translate(unit, arguments, options);
    } catch (const jit::KernelError& error) {
        raise_kernel_error(error);
    }
}

// The compiler must have laid the parameters out as they will be packed.
void check_layout(const Variant& v, size_t extra) {
    const core::FunctionInfo& info = v.function->info();
    if (!info.parameters_known) return;
    TRILANE_CHECK(info.parameters.size() == v.parameters.size() + extra,
                  "jit: {} has {} parameters, expected {}", info.name, info.parameters.size(),
                  v.parameters.size() + extra);
    for (size_t i = 0; i < v.parameters.size(); ++i) {
        // Records are passed by address.
        size_t expected = v.parameters[i]->kind == jit::TypeKind::Record
                              ? sizeof(core::DevicePtr)
                              : jit::layout_of(v.parameters[i]).size;
        TRILANE_CHECK(info.parameters[i].size == expected,
                      "jit: parameter {} of {} ({}) has {} bytes, expected {}", i, info.name,
                      v.parameters[i]->text, info.parameters[i].size, expected);
    }
}

std::shared_ptr<Variant> make_variant(const jit::Translation& t, core::FunctionPtr function,
                                      nb::object failures) {
    auto v = std::make_shared<Variant>();
    v->set_parameters(t.parameters);
    v->function = std::move(function);
    v->writes = t.writes;
    v->raises = t.raises;
    v->dynamic_shared = t.dynamic_shared;
    v->cooperative = t.cooperative;
    v->failures = std::move(failures);
    check_layout(*v, static_cast<size_t>(t.raises) + static_cast<size_t>(t.dynamic_shared));
    return v;
}

std::vector<std::string> codes_of(const std::vector<jit::TypeRef>& list) {
    std::vector<std::string> codes;
    for (jit::TypeRef type : list) codes.push_back(jit::types::code(type));
    return codes;
}

std::vector<std::string> argument_codes(nb::object owner, nb::tuple values) {
    KernelArguments arguments(owner, true);
    for (nb::handle value : values) arguments.add(value);
    return codes_of(arguments.types());
}

}  // namespace

void bind_jit(nb::module_& m) {
    nb::class_<jit::Translation>(m, "Translation",
                                 "CUDA C++ of a Python kernel for given argument types.")
        .def_ro("source", &jit::Translation::source)
        .def_ro("kernel_name", &jit::Translation::kernel_name)
        .def_ro("writes", &jit::Translation::writes)
        .def_ro("raises", &jit::Translation::raises)
        .def_ro("cooperative", &jit::Translation::cooperative)
        .def_prop_ro("parameters", [](const jit::Translation& t) { return codes_of(t.parameters); })
        .def_prop_ro("result",
                     [](const jit::Translation& t) { return jit::types::code(t.result); });
    nb::class_<Variant>(m, "Variant", "A kernel compiled for argument types on one device.")
        .def_ro("function", &Variant::function)
        .def_prop_ro("parameters", [](const Variant& v) { return codes_of(v.parameters); });
    nb::class_<KernelDispatcher>(m, "Dispatcher",
                                 "Compiled kernels of one Python function, by argument types.")
        .def(
            "__init__",
            [](KernelDispatcher* self, nb::object owner) {
                new (self) KernelDispatcher(std::move(owner));
            },
            "owner"_a)
        .def("add", &KernelDispatcher::add, "codes"_a, "variant"_a)
        .def("specialise", &KernelDispatcher::specialise, "variant"_a, "device"_a);
    nb::class_<ConfiguredKernel>(m, "Configured", "A kernel with its launch configuration.")
        .def(
            "__init__",
            [](ConfiguredKernel* self, std::shared_ptr<KernelDispatcher> dispatcher,
               nb::handle grid, nb::handle block, const core::StreamPtr& stream, size_t shared) {
                new (self) ConfiguredKernel{std::move(dispatcher), {}};
                self->config.grid = dim_of(grid, "grid");
                self->config.block = dim_of(block, "block");
                self->config.stream = stream;
                self->config.shared_bytes = shared;
            },
            "dispatcher"_a, "grid"_a, "block"_a, "stream"_a.none() = nb::none(), "shared"_a = 0)
        .def("__call__", [](const ConfiguredKernel& self, nb::args args) {
            self.dispatcher->launch(self.config, args);
        });
    bind_configured_call(m);
    m.def("translate", &translate, "functions"_a, "codes"_a, "kernel_name"_a = "",
          "max_threads"_a = 0, "min_blocks"_a = 0, "device"_a = false, "result"_a = "",
          "debug"_a = false);
    m.def("make_variant", &make_variant, "translation"_a, "function"_a, "failures"_a);
    m.def("argument_codes", &argument_codes, "owner"_a, "values"_a);
}

}  // namespace trilane::bindings
