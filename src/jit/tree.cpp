// Names of node kinds.
#include "jit/tree.h"

#include <unordered_map>

#include "core/error.h"

namespace trilane::jit {

NodeKind node_kind(std::string_view name) {
    using K = NodeKind;
    static const std::unordered_map<std::string_view, NodeKind> kinds = {
        {"Block", K::Block},
        {"Assign", K::Assign},
        {"AugAssign", K::AugAssign},
        {"Expr", K::Expr},
        {"If", K::If},
        {"While", K::While},
        {"For", K::For},
        {"Return", K::Return},
        {"Break", K::Break},
        {"Continue", K::Continue},
        {"Pass", K::Pass},
        {"Assert", K::Assert},
        {"Raise", K::Raise},
        {"Local", K::Local},
        {"Int", K::Int},
        {"Float", K::Float},
        {"Complex", K::Complex},
        {"Bool", K::Bool},
        {"Str", K::Str},
        {"None", K::None},
        {"Ellipsis", K::Ellipsis},
        {"Tuple", K::Tuple},
        {"BinOp", K::BinOp},
        {"UnaryOp", K::UnaryOp},
        {"BoolOp", K::BoolOp},
        {"Compare", K::Compare},
        {"IfExp", K::IfExp},
        {"Call", K::Call},
        {"Keyword", K::Keyword},
        {"Starred", K::Starred},
        {"Attribute", K::Attribute},
        {"Subscript", K::Subscript},
        {"Slice", K::Slice},
        {"NamedExpr", K::NamedExpr},
        {"FormatString", K::FormatString},
        {"Builtin", K::Builtin},
        {"DType", K::DType},
        {"Function", K::Function},
        {"Array", K::Array},
        {"DeviceArray", K::DeviceArray},
        {"NamedTupleClass", K::NamedTupleClass},
    };
    auto found = kinds.find(name);
    TRILANE_CHECK(found != kinds.end(), "node_kind: no kind {}", name);
    return found->second;
}

}  // namespace trilane::jit
