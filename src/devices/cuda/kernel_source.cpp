// Tokens of CUDA C++ text, and the two things looked for among them.
#include "devices/cuda/kernel_source.h"

#include <algorithm>
#include <cctype>

namespace trilane::cuda {
namespace {

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

enum class TokenKind : unsigned char { Word, String, Mark, End };

struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view text;  // of String: without its quotes
    bool is(std::string_view what) const { return kind != TokenKind::String && text == what; }
};

// Words, string literals and single characters; comments, numbers and preprocessor lines are left
// out.
class Tokens {
  public:
    explicit Tokens(std::string_view text) : text_(text) {}

    Token next() {
        while (skip_nothing()) {
        }
        if (at_ >= text_.size()) return {};
        const char c = text_[at_];
        if (is_word_start(c)) return word();
        if (c == '"' || c == '\'') return literal();
        if (std::isdigit(static_cast<unsigned char>(c))) {
            while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) ++at_;
            return {TokenKind::Mark, "0"};
        }
        line_start_ = false;
        return {TokenKind::Mark, text_.substr(at_++, 1)};
    }

  private:
    // Passes over one blank, comment or preprocessor line; false if there is none.
    bool skip_nothing() {
        if (at_ >= text_.size()) return false;
        const char c = text_[at_];
        if (std::isspace(static_cast<unsigned char>(c))) {
            line_start_ = line_start_ || c == '\n';
            ++at_;
            return true;
        }
        if (text_.substr(at_, 2) == "//") {
            skip_line();
            return true;
        }
        if (text_.substr(at_, 2) == "/*") {
            const size_t end = text_.find("*/", at_ + 2);
            at_ = end == std::string_view::npos ? text_.size() : end + 2;
            return true;
        }
        if (c == '#' && line_start_) {
            skip_line();
            return true;
        }
        return false;
    }

    void skip_line() {  // with the lines that a backslash joins to it
        while (at_ < text_.size()) {
            const size_t end = text_.find('\n', at_);
            if (end == std::string_view::npos) {
                at_ = text_.size();
                return;
            }
            size_t last = end;
            while (last > at_ && text_[last - 1] == '\r') --last;
            const bool joined = last > at_ && text_[last - 1] == '\\';
            at_ = end;
            if (!joined) return;
            ++at_;
        }
    }

    Token word() {
        const size_t start = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        const std::string_view text = text_.substr(start, at_ - start);
        line_start_ = false;
        if (at_ < text_.size() && text_[at_] == '"' && text.ends_with('R')) return raw_string();
        return {TokenKind::Word, text};
    }

    Token literal() {
        const char quote = text_[at_++];
        const size_t start = at_;
        while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
        const size_t end = std::min(at_, text_.size());
        at_ = end + 1;
        line_start_ = false;
        return {TokenKind::String, text_.substr(start, end - start)};
    }

    Token raw_string() {
        const size_t open = text_.find('(', at_);
        if (open == std::string_view::npos) {
            at_ = text_.size();
            return {TokenKind::String, {}};
        }
        const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        const size_t end = text_.find(close, open);
        at_ = end == std::string_view::npos ? text_.size() : end + close.size();
        return {TokenKind::String, {}};
    }

    std::string_view text_;
    size_t at_ = 0;
    bool line_start_ = true;
};

bool is_type_word(std::string_view word) {
    static constexpr std::string_view kWords[] = {
        "const",    "volatile", "restrict", "__restrict__", "__restrict", "unsigned",
        "signed",   "char",     "short",    "int",          "long",       "float",
        "double",   "bool",     "struct",   "union",        "enum",       "class",
        "typename", "__int64",  "wchar_t",  "auto",         "void"};
    return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

// "const float *__restrict__ a" -> "a"; "float *" -> "". What stands in parentheses does not count:
// a pointer to a function has no name then, which costs nothing but a name in messages.
std::string parameter_name(const std::vector<Token>& tokens) {
    std::string name;
    size_t words = 0;
    int open = 0;
    for (const Token& token : tokens) {
        if (token.is("(")) ++open;
        if (token.is(")")) --open;
        if (open > 0) continue;
        if (token.is("=") || token.is("[")) break;
        if (token.kind != TokenKind::Word) continue;
        ++words;
        name = is_type_word(token.text) ? std::string() : std::string(token.text);
    }
    return words < 2 ? std::string() : name;
}

struct Finder {
    explicit Finder(std::string_view source) : tokens(source) {}

    std::vector<SourceKernel> run() {
        std::vector<Token> declaration;  // of the file's scope, since the last ; { or }
        int depth = 0;                   // of braces that are no extern "C" block
        std::vector<bool> blocks;        // for each open brace, whether it is one
        for (Token token = tokens.next(); token.kind != TokenKind::End; token = tokens.next()) {
            if (token.is("{")) {
                const bool block = depth == 0 && declaration.size() == 2 && declares_c(declaration);
                blocks.push_back(block);
                depth += block ? 0 : 1;
                declaration.clear();
            } else if (token.is("}")) {
                if (!blocks.empty()) {
                    depth -= blocks.back() ? 0 : 1;
                    blocks.pop_back();
                }
                declaration.clear();
            } else if (token.is(";")) {
                declaration.clear();
            } else if (depth == 0) {
                const bool c = !blocks.empty() || declares_c(declaration);
                declaration.push_back(token);
                if (token.is("__global__") && c && !is_template(declaration)) {
                    read_kernel();
                    declaration.clear();
                }
            }
            if (!pending_brace) continue;
            pending_brace = false;
            blocks.push_back(false);
            ++depth;
        }
        return std::move(found);
    }

  private:
    static bool declares_c(const std::vector<Token>& declaration) {
        for (size_t i = 0; i + 1 < declaration.size(); ++i)
            if (declaration[i].is("extern") && declaration[i + 1].kind == TokenKind::String &&
                declaration[i + 1].text == "C")
                return true;
        return false;
    }

    static bool is_template(const std::vector<Token>& declaration) {
        return std::any_of(declaration.begin(), declaration.end(),
                           [](const Token& token) { return token.is("template"); });
    }

    static bool takes_arguments(std::string_view word) {  // and is not the kernel
        return word == "__launch_bounds__" || word == "__attribute__" || word == "alignas" ||
               word == "__cluster_dims__" || word == "__maxnreg__" || word == "__block_size__" ||
               word == "__declspec";
    }

    void skip_parentheses() {  // after the opening one
        int open = 1;
        for (Token token = tokens.next(); token.kind != TokenKind::End; token = tokens.next()) {
            if (token.is("(")) ++open;
            if (token.is(")") && --open == 0) return;
        }
    }

    // After __global__, up to the { of its body or the ; of a mere declaration.
    void read_kernel() {
        Token before;
        for (Token token = tokens.next(); token.kind != TokenKind::End; token = tokens.next()) {
            if (token.is(";")) return;
            if (token.is("{")) {
                pending_brace = true;
                return;
            }
            if (token.is("(")) {
                if (before.kind != TokenKind::Word) return skip_parentheses();
                if (!takes_arguments(before.text)) return read_parameters(before.text);
                skip_parentheses();
            }
            before = token;
        }
    }

    void read_parameters(std::string_view name) {
        SourceKernel kernel{std::string(name), {}};
        std::vector<Token> parameter;
        int open = 1, angles = 0;
        for (Token token = tokens.next(); token.kind != TokenKind::End; token = tokens.next()) {
            if (token.is("(") || token.is("[")) ++open;
            if (token.is(")") || token.is("]")) --open;
            if (token.is("<")) ++angles;
            if (token.is(">")) --angles;
            if (open == 0) break;
            if (token.is(",") && open == 1 && angles == 0) {
                kernel.parameters.push_back(parameter_name(parameter));
                parameter.clear();
            } else {
                parameter.push_back(token);
            }
        }
        const bool none = kernel.parameters.empty() &&
                          (parameter.empty() || (parameter.size() == 1 && parameter[0].is("void")));
        if (!none) kernel.parameters.push_back(parameter_name(parameter));
        const Token after = tokens.next();
        pending_brace = after.is("{");
        if (!pending_brace) return;
        const bool known = std::any_of(found.begin(), found.end(), [&](const SourceKernel& k) {
            return k.name == kernel.name;
        });
        if (!known) found.push_back(std::move(kernel));
    }

    Tokens tokens;
    std::vector<SourceKernel> found;
    bool pending_brace = false;
};

}  // namespace

std::vector<SourceKernel> find_c_kernels(std::string_view source) {
    if (source.find("__global__") == std::string_view::npos) return {};
    return Finder(source).run();
}

std::vector<std::string> find_includes(std::string_view source) {
    std::vector<std::string> names;
    for (size_t at = source.find("include"); at != std::string_view::npos;
         at = source.find("include", at + 1)) {
        size_t hash = at;
        while (hash > 0 && (source[hash - 1] == ' ' || source[hash - 1] == '\t')) --hash;
        if (hash == 0 || source[hash - 1] != '#') continue;
        size_t open = at + 7;
        while (open < source.size() && (source[open] == ' ' || source[open] == '\t')) ++open;
        if (open >= source.size() || (source[open] != '"' && source[open] != '<')) continue;
        const size_t close = source.find(source[open] == '<' ? '>' : '"', open + 1);
        if (close == std::string_view::npos || close - open > 4096) continue;
        std::string name(source.substr(open + 1, close - open - 1));
        if (name.find('\n') != std::string::npos) continue;
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    }
    return names;
}

}  // namespace trilane::cuda
