// What a for loop can run over: ranges, arrays, tuples, enumerate, zip, reversed, ndindex.
#include "jit/compiler.h"

namespace trilane::jit {

std::string Compiler::iteration(const Value& iterable, const Node& where,
                                std::function<Value()>& item) {
    std::string counter = fmt::format("i{}", ++program_.counter);
    if (iterable.is(TypeKind::Range)) {
        Value start = spill(iterable.items[0]), stop = spill(iterable.items[1]),
              step = spill(iterable.items[2]);
        TypeRef type = start.type;
        const Int128* known = step.integer_constant();
        bool up = known ? *known > 0 : step.type->kind == TypeKind::UInt;
        // A step of zero is an error in debug mode and an empty loop else.
        bool natural = !known && step.type->kind == TypeKind::UInt;
        if (!known) check(fmt::format("{} == 0", step.code), kZeroStepSite);
        std::string test = natural ? fmt::format("{2} && {0} < {1}", counter, stop.code, step.code)
                           : known || up
                               ? fmt::format("{} {} {}", counter, up ? "<" : ">", stop.code)
                               : fmt::format("({2} > 0 ? {0} < {1} : {2} && {0} > {1})", counter,
                                             stop.code, step.code);
        bool nonneg = start.nonneg && (up || step.nonneg);
        item = [this, type, counter, nonneg] {
            Value v = make(type, counter, true);
            v.nonneg = nonneg;
            return v;
        };
        return fmt::format("for ({0} {1} = {2}; {3}; {1} += {4}) {{ ", cuda_type(type), counter,
                           start.code, test, step.code);
    }
    Sequence s = sequence(iterable, where);
    item = [s, counter] { return s.at(counter); };
    Value length = spill(make(types::int64(), s.length));
    return fmt::format("for (long long {0} = 0; {0} < {1}; ++{0}) {{ ", counter, length.code);
}

Compiler::Sequence Compiler::sequence(const Value& iterable, const Node& where) {
    auto position = [](const std::string& k) {
        Value v = make(types::int64(), k, true);
        v.nonneg = true;
        return v;
    };
    if (iterable.is(TypeKind::Range)) {
        Value start = spill(iterable.items[0]), stop = spill(iterable.items[1]),
              step = spill(iterable.items[2]);
        TypeRef type = start.type;
        return {fmt::format("tl::range_length({}, {}, {})", start.code, stop.code, step.code),
                [=](const std::string& k) {
                    Value v = make(type, fmt::format("({0})({1} + ({0}){2} * {3})", cuda_type(type),
                                                     start.code, k, step.code));
                    v.nonneg = start.nonneg && step.nonneg;
                    return v;
                }};
    }
    if (iterable.is(TypeKind::Array) && iterable.type->ndim > 0) {
        Value array = spill(iterable);
        return {fmt::format("(long long){}.shape[0]", array.code),
                [=, this, &where](const std::string& k) {
                    return array_item(array, position(k), where);
                }};
    }
    if (iterable.is(TypeKind::Tuple) && iterable.type->uniform()) {
        Value tuple = spill(iterable);
        if (tuple.code.empty()) {
            std::string code = code_of(tuple);
            tuple.code = temporary();
            emit(fmt::format("const {} {} = {};", cuda_type(tuple.type), tuple.code, code));
        }
        TypeRef type = tuple.type->items[0];
        uint64_t origin = tuple.origin;
        for (const Value& item : tuple.items) origin |= item.origin;
        return {fmt::format("{}LL", tuple.type->items.size()), [=](const std::string& k) {
                    Value v = make(type, fmt::format("{}.f[{}]", tuple.code, k));
                    v.origin = origin;
                    return v;
                }};
    }
    if (!iterable.is(TypeKind::Iterator))
        typing(where, fmt::format("cannot iterate over {}", iterable.type->text));
    const std::string& kind = iterable.type->text;
    if (kind == "enumerate") {
        Sequence inner = sequence(iterable.items[0], where);
        Value start = spill(iterable.items[1]);
        return {inner.length, [=](const std::string& k) {
                    Value count = make(types::int64(), fmt::format("({} + {})", start.code, k));
                    count.nonneg = start.nonneg;
                    Value item = inner.at(k), pair;
                    pair.type = types::tuple({count.type, item.type});
                    pair.items = {std::move(count), std::move(item)};
                    return pair;
                }};
    }
    if (kind == "zip") {
        std::vector<Sequence> parts;
        std::string length;
        for (const Value& item : iterable.items) {
            parts.push_back(sequence(item, where));
            length = length.empty() ? parts.back().length
                                    : fmt::format("tl::least({}, {})", length, parts.back().length);
        }
        return {length.empty() ? "0LL" : length, [=](const std::string& k) {
                    Value all;
                    std::vector<TypeRef> item_types;
                    for (const Sequence& part : parts) {
                        all.items.push_back(part.at(k));
                        item_types.push_back(all.items.back().type);
                    }
                    all.type = types::tuple(std::move(item_types));
                    return all;
                }};
    }
    if (kind == "reversed") {
        Sequence inner = sequence(iterable.items[0], where);
        Value length = spill(make(types::int64(), inner.length));
        return {length.code, [=](const std::string& k) {
                    return inner.at(fmt::format("({} - 1 - {})", length.code, k));
                }};
    }
    // ndindex: the extents; ndenumerate and flat: the array, then its extents
    bool of_array = kind != "ndindex";
    std::vector<Value> extents(iterable.items.begin() + (of_array ? 1 : 0), iterable.items.end());
    Sequence index = indices(extents);
    if (!of_array) return index;
    Value array = spill(iterable.items[0]);
    bool pairs = kind == "ndenumerate";
    return {index.length, [=, this, &where](const std::string& k) {
                Value at = index.at(k), pair;
                for (Value& part : at.items) part = spill(part);
                Value item = array_item(array, at, where);
                if (!pairs) return item;
                pair.type = types::tuple({at.type, item.type});
                pair.items = {std::move(at), std::move(item)};
                return pair;
            }};
}

Compiler::Sequence Compiler::indices(const std::vector<Value>& extents) {
    std::vector<std::string> sizes;
    std::string length = "1LL";
    for (const Value& extent : extents) {
        sizes.push_back(spill(extent).code);
        length += fmt::format(" * (long long){}", sizes.back());
    }
    return {"(" + length + ")", [sizes](const std::string& k) {
                Value at;
                std::string rest = k;
                std::vector<TypeRef> item_types;
                for (size_t i = sizes.size(); i-- > 0;) {
                    std::string code = i == 0 ? rest : fmt::format("({} % {})", rest, sizes[i]);
                    rest = fmt::format("({} / {})", rest, sizes[i]);
                    Value part = make(types::int64(), code);
                    part.nonneg = true;
                    at.items.insert(at.items.begin(), part);
                    item_types.push_back(types::int64());
                }
                at.type = types::tuple(std::move(item_types));
                return at;
            }};
}

}  // namespace trilane::jit
