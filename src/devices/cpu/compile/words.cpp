// Clang's lexer in its raw mode.
#include "devices/cpu/compile/words.h"

#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"

namespace trilane::cpu {

std::vector<Word> words_of(std::string_view text) {
    clang::LangOptions language;
    language.CPlusPlus = language.CPlusPlus11 = language.CPlusPlus14 = language.CPlusPlus17 = true;
    language.CUDA = language.LineComment = true;
    clang::Lexer lexer(clang::SourceLocation(), language, text.data(), text.data(),
                       text.data() + text.size());
    std::vector<Word> words;
    clang::Token token;
    do {
        lexer.LexFromRawLexer(token);
        auto end = size_t(lexer.getBufferLocation() - text.data());
        words.push_back({token.getKind(), end - token.getLength(), end});
    } while (token.isNot(clang::tok::eof));
    return words;
}

}  // namespace trilane::cpu
