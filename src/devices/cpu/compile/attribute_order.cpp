// Runs of attributes, found before preprocessing so that macros which hold them are put right too.
#include "devices/cpu/compile/attribute_order.h"

#include <algorithm>

#include "devices/cpu/compile/words.h"

namespace trilane::cpu {
namespace {

using clang::tok::TokenKind;

// Words of CUDA that are attributes in the other syntax, see device_lib/cpu/attributes.h.
constexpr std::string_view kAttributes[] = {"__shared__",        "__device__",    "__constant__",
                                            "__host__",          "__global__",    "__managed__",
                                            "__tile_static__",   "__align__",     "__attribute__",
                                            "__builtin_align__", "__CUDA_ALIGN__"};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// A standard attribute stands right behind what may be a word or the end of another attribute.
bool may_need_it(std::string_view text) {
    for (std::string_view word : {"alignas", "[["})
        for (size_t at = text.find(word); at != std::string_view::npos;
             at = text.find(word, at + 1)) {
            size_t before = at;
            while (before > 0 && is_blank(text[before - 1])) --before;
            if (before > 0 && (text[before - 1] == '_' || text[before - 1] == ')')) return true;
        }
    return false;
}

class Words {
  public:
    explicit Words(const std::string& text) : text_(text), words_(words_of(text)) {}

    size_t count() const { return words_.size(); }
    const Word& at(size_t i) const { return words_[i]; }
    TokenKind kind(size_t i) const { return i < words_.size() ? words_[i].kind : clang::tok::eof; }
    std::string_view word(size_t i) const {
        return std::string_view(text_).substr(words_[i].begin, words_[i].end - words_[i].begin);
    }

    // Behind the parentheses or brackets that open at `i`; `i` if none do, or none close.
    size_t behind_group(size_t i) const {
        if (kind(i) != clang::tok::l_paren && kind(i) != clang::tok::l_square) return i;
        int depth = 0;
        for (size_t j = i; kind(j) != clang::tok::eof; ++j) {
            if (kind(j) == clang::tok::l_paren || kind(j) == clang::tok::l_square) ++depth;
            if (kind(j) == clang::tok::r_paren || kind(j) == clang::tok::r_square) --depth;
            if (depth == 0) return j + 1;
        }
        return i;
    }
    // Behind the attributes of CUDA that begin at `i`.
    size_t behind_cuda(size_t i) const {
        while (kind(i) == clang::tok::raw_identifier &&
               std::find(std::begin(kAttributes), std::end(kAttributes), word(i)) !=
                   std::end(kAttributes))
            i = kind(i + 1) == clang::tok::l_paren ? behind_group(i + 1) : i + 1;
        return i;
    }
    // Behind the standard attributes that begin at `i`.
    size_t behind_standard(size_t i) const {
        for (;;) {
            size_t next = i;
            if (kind(i) == clang::tok::raw_identifier && word(i) == "alignas")
                next = behind_group(i + 1);
            else if (kind(i) == clang::tok::l_square && kind(i + 1) == clang::tok::l_square)
                next = behind_group(i);
            if (next <= i + 1) return i;
            i = next;
        }
    }
    // The words i to j - 1 stand in one line.
    bool in_one_line(size_t i, size_t j) const {
        const size_t begin = words_[i].begin, end = words_[j - 1].end;
        return std::string_view(text_).substr(begin, end - begin).find('\n') ==
               std::string_view::npos;
    }
    // A declaration may begin at `i`, also as the text of a macro.
    bool begins(size_t i) const {
        if (i == 0) return true;
        switch (kind(i - 1)) {
            case clang::tok::semi:
            case clang::tok::l_brace:
            case clang::tok::r_brace:
            case clang::tok::colon:
            case clang::tok::greater:
            case clang::tok::r_paren:
            case clang::tok::string_literal:
                return true;
            case clang::tok::raw_identifier:
                // Behind a directive, or behind the name of a macro.
                return !in_one_line(i - 1, i + 1) || (i > 1 && word(i - 2) == "define");
            default:
                return !in_one_line(i - 1, i + 1);
        }
    }

  private:
    const std::string& text_;
    std::vector<Word> words_;
};

}  // namespace

std::optional<std::string> order_attributes(std::string_view given) {
    if (!may_need_it(given)) return std::nullopt;
    const std::string text(given);
    const Words words(text);
    std::string result;
    size_t copied = 0;
    for (size_t i = 0; i < words.count();) {
        const size_t middle = words.behind_cuda(i), end = words.behind_standard(middle);
        if (middle == i || end == middle || !words.begins(i) || !words.in_one_line(i, end)) {
            i = std::max(end, i + 1);
            continue;
        }
        const size_t begin = words.at(i).begin, gap = words.at(middle - 1).end;
        const size_t standard = words.at(middle).begin, last = words.at(end - 1).end;
        result.append(text, copied, begin - copied);
        result.append(text, standard, last - standard);
        result.append(text, gap, standard - gap);
        result.append(text, begin, gap - begin);
        copied = last;
        i = end;
    }
    if (copied == 0) return std::nullopt;
    return result.append(text, copied, std::string::npos);
}

}  // namespace trilane::cpu
