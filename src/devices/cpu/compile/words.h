// A text as clang's lexer cuts it before preprocessing, for what is written anew there.
#pragma once

#include <string_view>
#include <vector>

#include "clang/Basic/TokenKinds.h"

namespace trilane::cpu {

struct Word {
    clang::tok::TokenKind kind;
    size_t begin, end;  // offsets in the text
};

// Ends with a word of kind eof. Comments are left out. A zero byte must follow the text.
std::vector<Word> words_of(std::string_view text);

}  // namespace trilane::cpu
