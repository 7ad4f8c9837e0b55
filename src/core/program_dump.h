// TRILANE_DUMP=FOLDER: every program that is compiled or taken from the disk cache leaves its text
// there, for a look at what was generated and for tests that compile it elsewhere.
#pragma once

#include <string>

#include "core/program.h"

namespace trilane::core {

// Writes KEY.cu (the source) and KEY.json (file name, options, headers, name expressions) unless
// they are there; does nothing where TRILANE_DUMP is not set. Any thread, any process; a folder
// that cannot be written is said once on stderr and is no error.
void dump_program(const Program& program, const std::string& key);

}  // namespace trilane::core
