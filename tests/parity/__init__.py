"""Both compilers take the same texts: NVRTC compiles here, without a GPU, what the cpu device compiles."""
