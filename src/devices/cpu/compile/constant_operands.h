// Undefined arithmetic between constants, mended in the AST: there clang's code generator would
// fold it to poison before compile/semantics.h can see it.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
class ASTContext;
class Decl;
}  // namespace clang

namespace trilane::cpu {

// Changes, in every function body below `declaration` (template instantiations too):
//   x << 40, x >> 40 (amount constant and not below the width), x / 0, x % 0, INT_MIN / -1, and
//   conversions of constants to integers that cannot hold them ((int)3e9f, (int)NAN)
// to what a GPU computes at run time. What must be a constant expression (array bounds, template
// arguments, constexpr and namespace-scope initialisers) keeps C++'s meaning: mostly an error.
void mend_constant_operands(clang::ASTContext& context, clang::Decl* declaration);

// A consumer that does so for all declarations; it must stand before the code generator.
std::unique_ptr<clang::ASTConsumer> make_constant_operand_consumer();

}  // namespace trilane::cpu
