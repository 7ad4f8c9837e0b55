// Text of errors in Python kernels.
#include "jit/diagnostic.h"

#include <algorithm>

namespace trilane::jit {
namespace {

const std::string* line_of(const FunctionTree& function, int line) {
    int index = line - function.first_line;
    if (index < 0 || index >= static_cast<int>(function.lines.size())) return nullptr;
    return &function.lines[index];
}

}  // namespace

KernelError::KernelError(Fault fault, std::string message)
    : core::Error(fault == Fault::Unsupported ? core::ErrorKind::NotSupported
                                              : core::ErrorKind::TypeMismatch,
                  std::move(message)),
      fault_(fault) {}

void fail(Fault fault, const FunctionTree& function, const Node& node, const std::string& message) {
    std::string text = message + fmt::format("\n\nFile \"{}\", line {}, in {}:", function.file,
                                             node.line, function.name);
    if (const std::string* line = line_of(function, node.line)) {
        text += "\n" + *line;
        int width = node.end_line == node.line ? node.end_column - node.column
                                               : static_cast<int>(line->size()) - node.column;
        text += "\n" + std::string(std::max(node.column, 0), ' ') +
                std::string(std::max(width, 1), '^');
    }
    throw KernelError(fault, std::move(text));
}

std::string source_of(const FunctionTree& function, const Node& node) {
    const std::string* line = line_of(function, node.line);
    if (!line || node.end_line != node.line) return "";
    if (node.column < 0 || node.end_column > static_cast<int>(line->size())) return "";
    return line->substr(node.column, node.end_column - node.column);
}

}  // namespace trilane::jit
