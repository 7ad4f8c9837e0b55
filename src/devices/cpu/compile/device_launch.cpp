// Launches inside device code, found by clang's lexer in its raw mode.
#include "devices/cpu/compile/device_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "devices/cpu/compile/words.h"

namespace trilane::cpu {
namespace {

using clang::tok::TokenKind;

int closing_angles(TokenKind kind) {
    switch (kind) {
        case clang::tok::greater:
            return 1;
        case clang::tok::greatergreater:
            return 2;
        case clang::tok::greatergreatergreater:
            return 3;
        default:
            return 0;
    }
}

// Stands in no name and no configuration; without it a search would go through the whole text.
bool ends_search(TokenKind kind) {
    return kind == clang::tok::semi || kind == clang::tok::lesslessless;
}

// Index of the first word of the name that ends before `at`; `at` if there is none.
size_t start_of_name(const std::vector<Word>& words, size_t at) {
    size_t first = at;
    if (first == 0) return at;
    if (int depth = closing_angles(words[first - 1].kind)) {
        for (--first; depth > 0 && first > 0;) {
            --first;
            if (ends_search(words[first].kind)) return at;
            depth += closing_angles(words[first].kind);
            if (words[first].kind == clang::tok::less) --depth;
        }
        if (depth != 0 || first == 0) return at;
    }
    if (words[first - 1].kind != clang::tok::raw_identifier) return at;
    --first;
    while (first > 0 && words[first - 1].kind == clang::tok::coloncolon) {
        --first;
        if (first > 0 && words[first - 1].kind == clang::tok::raw_identifier) --first;
    }
    return first;
}

// Index of the ">>>" that belongs to the "<<<" at `at`, if "(" follows it; 0 if not.
size_t end_of_configuration(const std::vector<Word>& words, size_t at) {
    int depth = 0;
    for (size_t i = at + 1; i + 1 < words.size(); ++i) {
        if (ends_search(words[i].kind)) return 0;
        switch (words[i].kind) {
            case clang::tok::l_paren:
            case clang::tok::l_square:
            case clang::tok::l_brace:
                ++depth;
                break;
            case clang::tok::r_paren:
            case clang::tok::r_square:
            case clang::tok::r_brace:
                if (--depth < 0) return 0;
                break;
            case clang::tok::greatergreatergreater:
                if (depth == 0) return words[i + 1].kind == clang::tok::l_paren ? i : 0;
                break;
            default:
                break;
        }
    }
    return 0;
}

// The words first to last - 1 with a blank between names: the same for all spellings of a name.
std::string text_of(const std::string& source, const std::vector<Word>& words, size_t first,
                    size_t last) {
    std::string text;
    for (size_t i = first; i < last; ++i) {
        bool names = i > first && words[i].kind == clang::tok::raw_identifier &&
                     words[i - 1].kind == clang::tok::raw_identifier;
        if (names) text += ' ';
        text.append(source, words[i].begin, words[i].end - words[i].begin);
    }
    return text;
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

}  // namespace

DeviceLaunches rewrite_device_launches(const std::string& source) {
    DeviceLaunches result;
    if (source.find("<<<") == std::string::npos) {
        result.source = source;
        return result;
    }
    std::vector<Word> words = words_of(source);
    size_t copied = 0;
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i].kind != clang::tok::lesslessless) continue;
        size_t first = start_of_name(words, i), close = end_of_configuration(words, i);
        if (first == i || close == 0 || words[first].begin < copied) continue;
        std::string name = text_of(source, words, first, i);
        result.source.append(source, copied, words[first].begin - copied);
        result.source +=
            fmt::format("::trilane_device::launch<decltype(&{})>({}, ", name, quoted(name));
        // What stands between the name and its end keeps its lines.
        result.source.append(
            size_t(std::count(source.begin() + std::ptrdiff_t(words[first].begin),
                              source.begin() + std::ptrdiff_t(words[i].end), '\n')),
            '\n');
        result.source.append(source, words[i].end, words[close].begin - words[i].end);
        result.source += ')';
        copied = words[close].end;
        if (std::find(result.kernels.begin(), result.kernels.end(), name) == result.kernels.end())
            result.kernels.push_back(name);
    }
    result.source.append(source, copied, std::string::npos);
    return result;
}

}  // namespace trilane::cpu
