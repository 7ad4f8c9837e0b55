// <stdarg.h> in NVRTC, which knows its names without an include.
#pragma once
