// The compact code of types, in which they cross between Python and C++.
#include <charconv>

#include "core/error.h"
#include "jit/type.h"

namespace trilane::jit {
namespace {

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    TypeRef whole() {
        TypeRef type = one();
        if (at_ != text_.size()) fail();
        return type;
    }

  private:
    [[noreturn]] void fail() const {
        core::throw_error(core::ErrorKind::TypeMismatch, "type: cannot read {} at {}", text_, at_);
    }

    bool take(std::string_view token) {
        if (text_.substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }

    void expect(std::string_view token) {
        if (!take(token)) fail();
    }

    std::string_view until(std::string_view stops) {
        size_t end = text_.find_first_of(stops, at_);
        if (end == std::string_view::npos) end = text_.size();
        std::string_view word = text_.substr(at_, end - at_);
        at_ = end;
        return word;
    }

    int64_t number() {
        int64_t value = 0;
        auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc()) fail();
        at_ = static_cast<size_t>(end - text_.data());
        return value;
    }

    TypeRef one() {
        if (take("A(")) return array();
        if (take("T(")) return types::tuple(list());
        if (take("N(")) return named();
        if (take("R(")) return record();
        if (take("P(")) {
            TypeRef element = one();
            expect(")");
            return types::pointer(element);
        }
        if (take("S(")) {
            std::string what(until(")"));
            expect(")");
            return types::static_object(what);
        }
        return scalar(until(",;:)"));
    }

    TypeRef scalar(std::string_view name) {
        static constexpr std::pair<std::string_view, int> families[] = {
            {"uint", 0}, {"int", 1}, {"float", 2}, {"complex", 3}};
        if (name == "none" || name == "void") return types::none();
        if (name == "bool" || name == "boolean") return types::boolean();
        if (name == "str") return types::string();
        for (auto [prefix, family] : families) {
            if (!name.starts_with(prefix)) continue;
            int bits = 0;
            std::from_chars(name.data() + prefix.size(), name.data() + name.size(), bits);
            bool whole = bits == 8 || bits == 16 || bits == 32 || bits == 64;
            if (family == 0 && whole) return types::integer(bits, false);
            if (family == 1 && whole) return types::integer(bits, true);
            if (family == 2 && whole && bits > 8) return types::floating(bits);
            if (family == 3 && (bits == 64 || bits == 128)) return types::complex(bits);
        }
        fail();
    }

    TypeRef array() {
        TypeRef element = one();
        expect(",");
        int ndim = static_cast<int>(number());
        expect(",");
        char layout = at_ < text_.size() ? text_[at_++] : 'C';
        expect(",");
        bool readonly = number() != 0;
        expect(",");
        bool narrow = number() != 0;
        expect(")");
        return types::array(element, ndim, layout, readonly, narrow);
    }

    std::vector<TypeRef> list() {
        std::vector<TypeRef> items;
        while (!take(")")) {
            if (!items.empty()) expect(",");
            items.push_back(one());
        }
        return items;
    }

    TypeRef named() {
        std::string name(until(";"));
        expect(";");
        std::vector<std::string> names;
        while (!take(";")) {
            if (!names.empty()) expect(",");
            names.emplace_back(until(",;"));
        }
        return types::named_tuple(std::move(name), std::move(names), list());
    }

    TypeRef record() {
        int64_t nbytes = number();
        std::vector<Field> fields;
        while (take(";")) {
            Field field;
            field.name = until(":");
            expect(":");
            field.offset = number();
            expect(":");
            field.type = one();
            if (take(":")) {
                do field.shape.push_back(number());
                while (take(","));
            }
            fields.push_back(std::move(field));
        }
        expect(")");
        return types::record(std::move(fields), nbytes);
    }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace

TypeRef types::parse(std::string_view code) { return Parser(code).whole(); }

std::string types::code(TypeRef type) {
    auto join = [](const std::vector<TypeRef>& items) {
        std::string text;
        for (TypeRef item : items) text += (text.empty() ? "" : ",") + code(item);
        return text;
    };
    switch (type->kind) {
        case TypeKind::Array:
            return fmt::format("A({},{},{},{:d},{:d})", code(type->element), type->ndim,
                               type->layout, type->readonly, type->narrow);
        case TypeKind::Tuple:
            if (type->names.empty()) return fmt::format("T({})", join(type->items));
            return fmt::format("N({};{};{})", type->name, fmt::join(type->names, ","),
                               join(type->items));
        case TypeKind::Record: {
            std::string text = fmt::format("R({}", type->nbytes);
            for (const Field& f : type->fields) {
                text += fmt::format(";{}:{}:{}", f.name, f.offset, code(f.type));
                if (!f.shape.empty()) text += fmt::format(":{}", fmt::join(f.shape, ","));
            }
            return text + ")";
        }
        case TypeKind::Pointer:
            return fmt::format("P({})", code(type->element));
        case TypeKind::Static:
            return fmt::format("S({})", type->name);
        case TypeKind::Str:
            return "str";
        default:
            return type->text;
    }
}

}  // namespace trilane::jit
