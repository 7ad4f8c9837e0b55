// Puts the program together.
#include "jit/translate.h"

#include <algorithm>

#include "jit/compiler.h"
#include "jit/support.h"

namespace trilane::jit {
namespace {

struct Facts {
    bool raises = false, dynamic_shared = false, divides = false;
};

bool zero_literal(const Node* node) {
    if (!node) return false;
    if (node->kind == NodeKind::Keyword) return node->text == "shape" && zero_literal(node->kid(0));
    if (node->kind == NodeKind::Tuple) return node->kids.size() == 1 && zero_literal(node->kid(0));
    return node->kind == NodeKind::Int && node->text == "0";
}

void survey(const Node& node, Facts& facts) {
    facts.raises |= node.kind == NodeKind::Raise || node.kind == NodeKind::Assert;
    if (node.kind == NodeKind::BinOp || node.kind == NodeKind::AugAssign)
        facts.divides |= node.text == "/" || node.text == "//" || node.text == "%";
    facts.divides |= node.kind == NodeKind::Call;  // divmod(), operator.truediv(), range() ...
    if (node.kind == NodeKind::Call && node.kid(0)->kind == NodeKind::Builtin &&
        node.kid(0)->text == "cuda.shared.array")
        for (size_t i = 1; i < node.kids.size(); ++i)
            facts.dynamic_shared |=
                (i == 1 || node.kid(i)->kind == NodeKind::Keyword) && zero_literal(node.kid(i));
    for (const NodePtr& kid : node.kids)
        if (kid) survey(*kid, facts);
}

std::string tuple_definition(TypeRef type) {
    std::string text = fmt::format("struct {} {{ ", cuda_type(type));
    if (type->uniform())
        return text + fmt::format("{} f[{}]; }};\n", cuda_type(type->items[0]), type->items.size());
    for (size_t i = 0; i < type->items.size(); ++i)
        text += fmt::format("{} f{}; ", cuda_type(type->items[i]), i);
    return text + "};\n";
}

// Functions that a discarded pass over a loop asked for are not in the text that stayed.
std::vector<const Specialisation*> reachable(const Program& program, const std::string& kernel) {
    std::vector<const Specialisation*> kept;
    std::vector<const std::string*> texts = {&kernel};
    std::set<const Specialisation*> seen;
    for (size_t i = 0; i < texts.size(); ++i)
        for (const Specialisation* s : program.order)
            if (!seen.contains(s) && texts[i]->find(s->cuda_name + "(") != std::string::npos) {
                seen.insert(s);
                texts.push_back(&s->text);
            }
    for (const Specialisation* s : program.order)
        if (seen.contains(s)) kept.push_back(s);
    return kept;
}

}  // namespace

void Program::need(TypeRef type) {
    switch (type->kind) {
        case TypeKind::Complex:
            features.insert("complex");
            return;
        case TypeKind::Float:
            if (type->bits == 16) features.insert("half");
            return;
        case TypeKind::Record:
            features.insert("records");
            return;
        case TypeKind::Array:
        case TypeKind::Pointer:
            need(type->element);
            return;
        case TypeKind::Tuple:
            if (type->items.empty() ||
                std::find(tuples.begin(), tuples.end(), type) != tuples.end())
                return;
            for (TypeRef item : type->items) need(item);
            tuples.push_back(type);
            return;
        default:
            return;
    }
}

std::string Program::hidden_parameters(bool kernel) const {
    std::string text;
    if (raises)
        text = kernel ? "tl::Failure* tl_failure" : "tl::Failure* tl_failure, bool& tl_raised";
    if (dynamic_shared)
        text += std::string(text.empty() ? "" : ", ") + "unsigned int tl_dynamic_bytes";
    return text;
}

std::string Program::hidden_arguments() const {
    std::string text = raises ? "tl_failure, tl_raised" : "";
    if (dynamic_shared) text += std::string(text.empty() ? "" : ", ") + "tl_dynamic_bytes";
    return text;
}

namespace {

// Empty if something was met that must be able to raise, and `raises` was not said.
std::optional<Translation> attempt(const Unit& unit, const std::vector<TypeRef>& arguments,
                                   const TranslateOptions& options, bool raises) {
    Program program(unit, options);
    Facts facts;
    for (const FunctionTree& f : unit.functions) survey(*f.body, facts);
    program.raises = raises || facts.raises || (options.debug && facts.divides);
    program.dynamic_shared = facts.dynamic_shared;
    if (facts.dynamic_shared) program.need("dynamic_shared");
    const FunctionTree& f = unit.functions[0];
    if (arguments.size() != f.parameters.size())
        throw KernelError(Fault::Typing,
                          fmt::format("{}() takes {} arguments but {} were given", f.name,
                                      f.parameters.size(), arguments.size()));
    Specialisation top;
    top.cuda_name = options.kernel_name.empty() ? mangle(f.name) : options.kernel_name;
    top.declared = options.device_function ? options.result : nullptr;
    for (TypeRef type : arguments) {
        Value v;
        v.type = type;
        if (type->kind == TypeKind::None) v.constant = Constant(std::monostate());
        program.need(type);
        top.arguments.push_back(std::move(v));
    }
    Compiler(program, f, top, !options.device_function).run();
    // A device function alone has no place to leave a failure in.
    if (program.wants_raise && !program.raises && !options.device_function) return {};
    if (program.cooperative) program.need("cooperative");
    Translation t;
    t.source = support_text(program.features);
    for (TypeRef type : program.tuples) t.source += tuple_definition(type);
    t.source += program.constants;
    for (const auto& [name, prototype] : program.externals) t.source += prototype;
    std::vector<const Specialisation*> kept = reachable(program, top.text);
    for (const Specialisation* s : kept) t.source += s->prototype + ";\n";
    for (const Specialisation* s : kept) t.source += s->text;
    t.source += top.text;
    t.kernel_name = top.cuda_name;
    t.parameters = arguments;
    t.result = top.result;
    t.writes = top.writes;
    t.raises = program.raises;
    t.dynamic_shared = program.dynamic_shared;
    t.cooperative = program.cooperative;
    return t;
}

}  // namespace

Translation translate(const Unit& unit, const std::vector<TypeRef>& arguments,
                      const TranslateOptions& options) {
    TRILANE_CHECK(!unit.functions.empty(), "translate: no function");
    if (std::optional<Translation> plain = attempt(unit, arguments, options, false)) return *plain;
    std::optional<Translation> raising = attempt(unit, arguments, options, true);
    TRILANE_CHECK(raising.has_value(), "translate: no way to raise");
    return *raising;
}

}  // namespace trilane::jit
