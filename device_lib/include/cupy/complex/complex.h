// cupy/complex/complex.h: where cupy/complex.cuh used to keep its type.
#pragma once
#include "thrust/complex.h"
