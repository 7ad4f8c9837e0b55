// Loops: the fixed point of types at the head, and the ways out.
#include <algorithm>

#include "jit/compiler.h"
#include "jit/loop.h"

namespace trilane::jit {

void assigned_names(const Node& node, std::set<std::string>& names) {
    using K = NodeKind;
    auto targets = [&](auto&& self, const Node& target) -> void {
        if (target.kind == K::Local) names.insert(target.text);
        if (target.kind == K::Tuple)
            for (const NodePtr& kid : target.kids) self(self, *kid);
    };
    if (node.kind == K::Assign)
        for (size_t i = 1; i < node.kids.size(); ++i) targets(targets, *node.kid(i));
    if (node.kind == K::AugAssign || node.kind == K::For || node.kind == K::NamedExpr)
        targets(targets, *node.kid(0));
    for (const NodePtr& kid : node.kids)
        if (kid) assigned_names(*kid, names);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
}

void Compiler::Loop::leave(Compiler& c, bool is_break) {
    if (is_break || unrolled) {
        std::string mark = fmt::format("\x01{}\x02", ++c.program_.counter);
        c.emit(mark);
        (is_break ? breaks : skips).emplace_back(mark, c.state_);
    } else {
        c.convert(c.state_, head);
        c.emit("continue;");
        continues.push_back(c.state_);
    }
    c.state_.alive = false;
}

void Compiler::kill_constants(State& state, const Node& body) {
    std::set<std::string> names;
    assigned_names(body, names);
    for (const std::string& name : names) {
        auto found = state.variables.find(name);
        if (found == state.variables.end()) continue;
        found->second.constant.reset();
        if (found->second.type->kind == TypeKind::Tuple) found->second.value.reset();
    }
}

namespace {

// What the head of a loop must know after one pass; equal to `head` when it has settled.
State next_head(const State& head, const State& back, const std::vector<State>& continues,
                const std::set<std::string>& missing) {
    State next = merge(head, back);
    if (!back.alive || !head.alive) return head;
    for (auto at = next.variables.begin(); at != next.variables.end();) {
        bool fresh = !head.variables.contains(at->first);
        bool same_type = std::all_of(continues.begin(), continues.end(), [&](const State& s) {
            auto found = s.variables.find(at->first);
            return found == s.variables.end() || found->second.type == at->second.type;
        });
        if (fresh && same_type && !missing.contains(at->first))
            at = next.variables.erase(at);  // set anew in each turn
        else
            ++at;
    }
    return next;
}

}  // namespace

void Compiler::loop(const Node& node, const std::function<std::string()>& open,
                    const std::function<void()>& begin) {
    const Node& body = *node.kid(node.kind == NodeKind::For ? 2 : 1);
    const Node* otherwise = node.kid(node.kind == NodeKind::For ? 3 : 2);
    std::string opening = open();
    State entry = state_, head = state_, back, leaving;
    kill_constants(head, node);
    std::string text;
    Loop frame;
    for (int pass = 0;; ++pass) {
        TRILANE_CHECK(pass < 64, "jit: types of the loop at line {} do not settle", node.line);
        frame = Loop{};
        frame.head = state_ = head;
        assigned_names(node, frame.assigned);
        loops_.push_back(&frame);
        text = capture([&] {
            ++indent_;
            begin();
            leaving = state_;
            block(body);
            convert(state_, head);
            --indent_;
        });
        loops_.pop_back();
        frame.continues.push_back(state_);
        back = State{.alive = false, .variables = {}};
        for (const State& s : frame.continues) back = merge(back, s);
        State next = next_head(head, back, frame.continues, frame.missing);
        if (next == head) break;
        head = std::move(next);
    }
    for (const std::string& name : frame.missing)
        typing(*frame.missing_at, fmt::format("variable '{}' referenced before assignment", name));
    // The test of a `while True` never fails: `begin` leaves a dead state then.
    bool endless = node.kind == NodeKind::While && leaving.alive &&
                   node.kid(0)->kind == NodeKind::Bool && node.kid(0)->text == "1";
    State after = leaving;
    if (node.kind == NodeKind::For) after = head;
    for (const auto& [name, variable] : back.variables) after.variables.emplace(name, variable);
    after.alive = !endless;
    state_ = after;
    std::string tail = capture([&] {
        if (otherwise && state_.alive) block(*otherwise);
    });
    State end = state_;
    for (const auto& [mark, state] : frame.breaks) end = merge(end, state);
    tail += conversion_text(state_, end);
    std::string label = tail.empty() ? "" : fmt::format("L{}", ++program_.counter);
    for (const auto& [mark, state] : frame.breaks) {
        std::string jump = label.empty() ? "break;" : fmt::format("goto {};", label);
        replace_all(text, mark, conversion_text(state, end) + jump);
    }
    convert(entry, head);
    emit(opening + text + "}");
    if (!label.empty()) {
        emit("{" + tail + "}");
        if (!frame.breaks.empty()) emit(label + ":;");
    }
    state_ = end;
}

void Compiler::while_statement(const Node& node) {
    loop(
        node, [] { return std::string("while (true) { "); },
        [&] {
            Value test = condition(*node.kid(0));
            if (test.constant && std::get<bool>(*test.constant)) return;
            emit(fmt::format("if (!({})) break;", test.code));
        });
}

void Compiler::for_statement(const Node& node) {
    const Node& target = *node.kid(0);
    Value iterable = visit(*node.kid(1));
    iterable = iterable.is(TypeKind::Range) || iterable.is(TypeKind::Iterator) ? iterable
                                                                               : spill(iterable);
    if (iterable.is(TypeKind::Tuple) && !iterable.type->uniform()) {
        unroll_tuple(node, iterable);
        return;
    }
    std::function<Value()> item;
    std::string opening = iteration(iterable, *node.kid(1), item);
    loop(node, [&] { return opening; }, [&] { assign(target, item(), node); });
}

void Compiler::unroll_tuple(const Node& node, const Value& tuple) {
    std::vector<std::pair<std::string, State>> breaks;
    std::string text;
    for (size_t i = 0; i < tuple.type->items.size() && state_.alive; ++i) {
        Loop frame;
        frame.unrolled = true;
        loops_.push_back(&frame);
        std::string one = capture([&] {
            assign(*node.kid(0), item_of(tuple, i), node);
            block(*node.kid(2));
        });
        loops_.pop_back();
        State joined = state_;
        for (const auto& [mark, state] : frame.skips) joined = merge(joined, state);
        one += conversion_text(state_, joined);
        std::string label = fmt::format("L{}", ++program_.counter);
        for (const auto& [mark, state] : frame.skips)
            replace_all(one, mark, conversion_text(state, joined) + fmt::format("goto {};", label));
        state_ = joined;
        text += "{" + one + "}";
        if (!frame.skips.empty()) text += label + ":;";
        for (auto& leaving : frame.breaks) breaks.push_back(std::move(leaving));
    }
    std::string tail = capture([&] {
        if (node.kid(3) && state_.alive) block(*node.kid(3));
    });
    State end = state_;
    for (const auto& [mark, state] : breaks) end = merge(end, state);
    tail += conversion_text(state_, end);
    std::string label = fmt::format("L{}", ++program_.counter);
    for (const auto& [mark, state] : breaks)
        replace_all(text, mark, conversion_text(state, end) + fmt::format("goto {};", label));
    emit(text + "{" + tail + "}");
    if (!breaks.empty()) emit(label + ":;");
    state_ = end;
}

}  // namespace trilane::jit
