// A visitor that replaces operands; types and value categories stay as they were.
#include "devices/cpu/compile/constant_operands.h"

#include <algorithm>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclGroup.h"
#include "clang/AST/Expr.h"
#include "clang/AST/RecursiveASTVisitor.h"

namespace trilane::cpu {
namespace {

bool is_plain_integer(clang::QualType type) {
    return type->isIntegerType() && !type->isEnumeralType() && !type->isBooleanType() &&
           !type->isBitIntType();
}

class Mender : public clang::RecursiveASTVisitor<Mender> {
  public:
    explicit Mender(clang::ASTContext& context) : context_(context) {}

    bool shouldVisitTemplateInstantiations() const { return true; }
    // Operands first: a conversion then sees what became of them.
    bool shouldTraversePostOrder() const { return true; }

    bool VisitBinaryOperator(clang::BinaryOperator* operation) {
        if (operation->isCompoundAssignmentOp() || operation->isInstantiationDependent())
            return true;
        if (operation->getOpcode() == clang::BO_Div && operation->getType()->isRealFloatingType())
            mend_float_division(*operation);
        if (!is_plain_integer(operation->getType())) return true;
        if (operation->isShiftOp()) mend_shift(*operation);
        if (operation->getOpcode() == clang::BO_Div || operation->getOpcode() == clang::BO_Rem)
            mend_division(*operation);
        return true;
    }

    bool VisitCastExpr(clang::CastExpr* cast) {
        if (cast->getCastKind() == clang::CK_FloatingToIntegral &&
            !cast->isInstantiationDependent() && is_plain_integer(cast->getType()))
            mend_conversion(*cast);
        return true;
    }

  private:
    bool constant(const clang::Expr* expression, llvm::APSInt& value) {
        clang::Expr::EvalResult result;
        if (expression->isInstantiationDependent() || !expression->getType()->isIntegerType() ||
            !expression->EvaluateAsInt(result, context_))
            return false;
        value = result.Val.getInt();
        return true;
    }

    clang::Expr* literal(const llvm::APInt& value, clang::QualType type, const clang::Expr& at) {
        return clang::IntegerLiteral::Create(context_, value, type.getUnqualifiedType(),
                                             at.getExprLoc());
    }

    // The left side is still evaluated, for what it does besides.
    void replace(clang::BinaryOperator& operation, const llvm::APInt& value) {
        operation.setOpcode(clang::BO_Comma);
        operation.setRHS(literal(value, operation.getType(), operation));
    }

    void mend_shift(clang::BinaryOperator& shift) {
        llvm::APSInt amount;
        unsigned width = context_.getIntWidth(shift.getType());
        if (!constant(shift.getRHS(), amount)) return;
        if (amount.isNonNegative() && amount.getActiveBits() <= 32 && amount.getZExtValue() < width)
            return;
        bool keeps_sign =
            shift.getOpcode() == clang::BO_Shr && shift.getType()->isSignedIntegerType();
        if (!keeps_sign) return replace(shift, llvm::APInt::getZero(width));
        clang::QualType type = shift.getRHS()->getType();
        if (!is_plain_integer(type)) return;
        shift.setRHS(literal(llvm::APInt(context_.getIntWidth(type), width - 1), type, shift));
    }

    void mend_division(clang::BinaryOperator& division) {
        llvm::APSInt divisor, dividend;
        unsigned width = context_.getIntWidth(division.getType());
        if (!constant(division.getRHS(), divisor)) return;
        if (divisor.isZero()) return replace(division, llvm::APInt::getAllOnes(width));
        if (!division.getType()->isSignedIntegerType() || !divisor.isAllOnes() ||
            !constant(division.getLHS(), dividend) || !dividend.isMinSignedValue())
            return;
        bool remainder = division.getOpcode() == clang::BO_Rem;
        replace(division,
                remainder ? llvm::APInt::getZero(width) : llvm::APInt::getSignedMinValue(width));
    }

    // 0.0f / 0.0f, which the evaluator of constants refuses: a literal is one that it takes.
    void mend_float_division(clang::BinaryOperator& division) {
        llvm::APFloat dividend(0.0), divisor(0.0);
        if (!division.getLHS()->EvaluateAsFloat(dividend, context_) ||
            !division.getRHS()->EvaluateAsFloat(divisor, context_))
            return;
        if (!dividend.isZero() || !divisor.isZero()) return;
        auto nan = llvm::APFloat::getQNaN(context_.getFloatTypeSemantics(division.getType()));
        division.setOpcode(clang::BO_Comma);
        division.setRHS(clang::FloatingLiteral::Create(
            context_, nan, true, division.getType().getUnqualifiedType(), division.getExprLoc()));
    }

    void mend_conversion(clang::CastExpr& cast) {
        clang::Expr* source = cast.getSubExpr();
        llvm::APFloat value(0.0);
        if (source->isInstantiationDependent() || !source->getType()->isRealFloatingType() ||
            !source->EvaluateAsFloat(value, context_))
            return;
        unsigned width = context_.getIntWidth(cast.getType());
        unsigned made = std::max(width, 32u);  // narrow ones are cut off afterwards
        llvm::APSInt whole(width, !cast.getType()->isSignedIntegerType());
        llvm::APSInt saturated(made, !cast.getType()->isSignedIntegerType());
        bool exact = false;
        if (value.convertToInteger(whole, llvm::APFloat::rmTowardZero, &exact) !=
            llvm::APFloat::opInvalidOp)
            return;
        value.convertToInteger(saturated, llvm::APFloat::rmTowardZero, &exact);
        llvm::APInt result = saturated;
        bool wide = width == 64 || context_.getTypeSize(source->getType()) == 64;
        if (value.isNaN())
            result = wide ? llvm::APInt::getSignMask(made) : llvm::APInt::getZero(made);
        result = result.trunc(width);
        cast.setSubExpr(literal(result, cast.getType(), cast));
        cast.setCastKind(clang::CK_NoOp);
    }

    clang::ASTContext& context_;
};

class Consumer : public clang::ASTConsumer {
  public:
    void Initialize(clang::ASTContext& context) override { context_ = &context; }
    bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
        for (clang::Decl* declaration : group) mend_constant_operands(*context_, declaration);
        return true;
    }
    void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override {
        mend_constant_operands(*context_, function);
    }
    // Declarations of the precompiled prelude: ours, and free of such operands.
    void HandleInterestingDecl(clang::DeclGroupRef) override {}

  private:
    clang::ASTContext* context_ = nullptr;
};

}  // namespace

void mend_constant_operands(clang::ASTContext& context, clang::Decl* declaration) {
    if (!declaration->isInvalidDecl()) Mender(context).TraverseDecl(declaration);
}

std::unique_ptr<clang::ASTConsumer> make_constant_operand_consumer() {
    return std::make_unique<Consumer>();
}

}  // namespace trilane::cpu
