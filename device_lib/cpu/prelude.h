// The umbrella of everything CUDA C++ knows without an include, on the cpu device: the compiler
// includes it before every kernel text (as a precompiled header). One subject per file.
#pragma once

#include "attributes.h"
#include "types.h"
#include "vector_types.h"
#include "builtin_variables.h"
#include "memory.h"
#include "sync.h"
#include "shuffle.h"
#include "atomics.h"
#include "bits.h"
#include "math_basic.h"
#include "math_double.h"
#include "math_float.h"
#include "math_special.h"
#include "math_overloads.h"
#include "rounding.h"
#include "convert.h"
#include "integer.h"
#include "simd_in_word.h"
#include "math_fast.h"
#include "math_std.h"
