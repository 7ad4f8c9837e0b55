// A loop while its body is compiled.
#pragma once

#include "jit/compiler.h"

namespace trilane::jit {

// Thrown where a variable is read that has no value on any path seen so far, but that the loop
// around sets further on.
struct Undefined {
    std::string name;
};

struct Compiler::Loop {
    State head;
    std::set<std::string> assigned;  // names that the body sets
    std::set<std::string> missing;   // of these, read before they were known
    const Node* missing_at = nullptr;
    std::vector<State> continues;
    std::vector<std::pair<std::string, State>> breaks;  // placeholder in the text, state there
    bool unrolled = false;                              // not a loop in C++: leave by goto
    // Of an unrolled turn: placeholders of `continue`, state there.
    std::vector<std::pair<std::string, State>> skips;

    // Puts out `break` or `continue`.
    void leave(Compiler& compiler, bool is_break);
};

// Placeholder of "leave a device function that raised".
inline constexpr const char* kReturnNothing = "\x01return\x02";

void assigned_names(const Node& node, std::set<std::string>& names);
void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace trilane::jit
