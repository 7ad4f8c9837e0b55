// <assert.h> in NVRTC, which knows assert without an include; NDEBUG switches it off there too.
