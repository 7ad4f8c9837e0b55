// TRILANE_DUMP=FOLDER: every program that is compiled or taken from the disk cache leaves its text
// there, for a look at what was generated and for tests that compile it elsewhere.
#pragma once

#include <string>

#include "core/program.h"

namespace trilane::core {

// Writes KEY.cu (the source), HASH.h (each header) and KEY.json (file name, options, name
// expressions, and for each header's name the file with its text) unless
// they are there; does nothing where TRILANE_DUMP is not set. Any thread, any process; a folder
// that cannot be written is said once on stderr and is no error.
void dump_program(const Program& program, const std::string& key);

}  // namespace trilane::core
