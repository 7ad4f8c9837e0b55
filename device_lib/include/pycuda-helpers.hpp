// pycuda-helpers.hpp: its fp_tex functions read texture references, which CUDA 12 took away.
#error "pycuda-helpers.hpp: fp_tex1Dfetch and its kin need texture references, which CUDA has removed"
