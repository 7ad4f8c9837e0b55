// Launches from kernels. The compiler writes `f<<<grid, block, shared, stream>>>(x)` inside device
// code as `trilane_device::launch<decltype(&f)>("f", grid, block, shared, stream)(x)`: the name
// says at run time which kernel is meant, the type how its arguments convert.
#pragma once

// Arguments are copied. The grid starts when the launching grid has ended.
extern "C" __device__ void __trl_rt_launch(const char* kernel, const unsigned int* shape,
                                           unsigned long long shared, void* const* arguments,
                                           const unsigned int* sizes, unsigned int count);

namespace trilane_device {

template <typename Function>
struct Launch;

template <typename... Parameters>
struct Launch<void (*)(Parameters...)> {
    const char* kernel;
    unsigned int shape[6];
    unsigned long long shared;

    TRILANE_HD void operator()(Parameters... given) const {
        void* arguments[] = {(void*)&given..., nullptr};
        const unsigned int sizes[] = {(unsigned int)sizeof(Parameters)..., 0u};
        __trl_rt_launch(kernel, shape, shared, arguments, sizes, sizeof...(Parameters));
    }
};

// Grids start in the order of their launches, whatever their stream.
template <typename Function>
TRILANE_HD Launch<Function> launch(const char* kernel, dim3 grid, dim3 block,
                                   unsigned long long shared = 0, const void* = nullptr) {
    return {kernel, {grid.x, grid.y, grid.z, block.x, block.y, block.z}, shared};
}

}  // namespace trilane_device
