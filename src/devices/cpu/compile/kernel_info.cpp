// Types of kernel parameters, turned into core::Parameter.
#include "devices/cpu/compile/kernel_info.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/PrettyPrinter.h"
#include "clang/Basic/SourceManager.h"

namespace trilane::cpu {
namespace {

using core::ParameterKind;

ParameterKind kind_of(clang::QualType type) {
    type = type.getCanonicalType();
    if (type->isPointerType() || type->isReferenceType()) return ParameterKind::Pointer;
    if (type->isNullPtrType() || type->isMemberPointerType()) return ParameterKind::Struct;
    if (type->isBooleanType()) return ParameterKind::Bool;
    if (type->isRealFloatingType()) return ParameterKind::Float;
    if (type->isSignedIntegerOrEnumerationType()) return ParameterKind::Int;
    if (type->isUnsignedIntegerOrEnumerationType()) return ParameterKind::UInt;
    return ParameterKind::Struct;
}

core::Parameter describe_parameter(const clang::ASTContext& context,
                                   const clang::ParmVarDecl& declaration,
                                   const clang::PrintingPolicy& policy) {
    core::Parameter parameter;
    clang::QualType type = declaration.getType();
    parameter.name = declaration.getNameAsString();
    parameter.c_type = declaration.getOriginalType().getAsString(policy);
    parameter.kind = kind_of(type);
    clang::QualType stored =
        type->isReferenceType() ? context.getPointerType(type.getNonReferenceType()) : type;
    parameter.size = static_cast<uint32_t>(context.getTypeSizeInChars(stored).getQuantity());
    parameter.align = static_cast<uint32_t>(context.getTypeAlignInChars(stored).getQuantity());
    if (parameter.kind == ParameterKind::Pointer) {
        clang::QualType pointee = type->getPointeeType();
        parameter.pointee_const = pointee.isConstQualified();
        if (!pointee->isIncompleteType() && !pointee->isFunctionType() && !pointee->isVoidType()) {
            parameter.pointee_size =
                static_cast<uint32_t>(context.getTypeSizeInChars(pointee).getQuantity());
            parameter.pointee_kind = kind_of(pointee);
        }
    }
    return parameter;
}

int max_threads(const clang::ASTContext& context, const clang::FunctionDecl& function) {
    const auto* bounds = function.getAttr<clang::CUDALaunchBoundsAttr>();
    if (bounds == nullptr || bounds->getMaxThreads() == nullptr) return 1024;
    clang::Expr::EvalResult value;
    if (bounds->getMaxThreads()->isValueDependent() ||
        !bounds->getMaxThreads()->EvaluateAsInt(value, context))
        return 1024;
    int64_t number = value.Val.getInt().getExtValue();
    return number > 0 && number < 1024 ? static_cast<int>(number) : 1024;
}

// What __cluster_dims__ says; axes that it leaves out have one block.
core::Dim3 cluster_of(const clang::ASTContext& context, const clang::FunctionDecl& function) {
    for (const auto* note : function.specific_attrs<clang::AnnotateAttr>()) {
        if (note->getAnnotation() != "trilane_cluster_dims") continue;
        core::Dim3 cluster{1, 1, 1};
        uint32_t* axes[] = {&cluster.x, &cluster.y, &cluster.z};
        size_t axis = 0;
        for (const clang::Expr* size : note->args()) {
            clang::Expr::EvalResult value;
            if (axis < 3 && size->EvaluateAsInt(value, context))
                *axes[axis++] = uint32_t(value.Val.getInt().getExtValue());
        }
        return cluster;
    }
    return {0, 0, 0};
}

}  // namespace

KernelDescription describe_kernel(const clang::ASTContext& context,
                                  const clang::FunctionDecl& function, std::string symbol) {
    KernelDescription kernel;
    kernel.name = std::move(symbol);
    clang::PrintingPolicy policy(context.getLangOpts());
    policy.SuppressTagKeyword = true;
    policy.Bool = true;
    for (const clang::ParmVarDecl* parameter : function.parameters())
        kernel.parameters.push_back(describe_parameter(context, *parameter, policy));
    kernel.max_threads_per_block = max_threads(context, function);
    kernel.cluster = cluster_of(context, function);
    const clang::SourceManager& sources = context.getSourceManager();
    clang::PresumedLoc place =
        sources.getPresumedLoc(sources.getExpansionLoc(function.getLocation()));
    if (place.isValid()) {
        kernel.line = static_cast<int>(place.getLine());
        kernel.file = place.getFilename();
    }
    return kernel;
}

}  // namespace trilane::cpu
