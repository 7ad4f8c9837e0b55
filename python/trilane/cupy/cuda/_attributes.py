"""CUDA's device attributes: number to the name that `Device.attributes` shows."""

from __future__ import annotations

_ORDER = """
1 MaxThreadsPerBlock MaxBlockDimX MaxBlockDimY MaxBlockDimZ MaxGridDimX MaxGridDimY MaxGridDimZ
MaxSharedMemoryPerBlock TotalConstantMemory WarpSize MaxPitch MaxRegistersPerBlock ClockRate
TextureAlignment GpuOverlap MultiProcessorCount KernelExecTimeout Integrated CanMapHostMemory
ComputeMode MaxTexture1DWidth MaxTexture2DWidth MaxTexture2DHeight MaxTexture3DWidth
MaxTexture3DHeight MaxTexture3DDepth MaxTexture2DLayeredWidth MaxTexture2DLayeredHeight
MaxTexture2DLayeredLayers SurfaceAlignment ConcurrentKernels EccEnabled PciBusId PciDeviceId
TccDriver MemoryClockRate GlobalMemoryBusWidth L2CacheSize MaxThreadsPerMultiProcessor
AsyncEngineCount UnifiedAddressing MaxTexture1DLayeredWidth MaxTexture1DLayeredLayers
45 MaxTexture2DGatherWidth MaxTexture2DGatherHeight MaxTexture3DWidthAlt MaxTexture3DHeightAlt
MaxTexture3DDepthAlt PciDomainId TexturePitchAlignment MaxTextureCubemapWidth
MaxTextureCubemapLayeredWidth MaxTextureCubemapLayeredLayers MaxSurface1DWidth MaxSurface2DWidth
MaxSurface2DHeight MaxSurface3DWidth MaxSurface3DHeight MaxSurface3DDepth MaxSurface1DLayeredWidth
MaxSurface1DLayeredLayers MaxSurface2DLayeredWidth MaxSurface2DLayeredHeight
MaxSurface2DLayeredLayers MaxSurfaceCubemapWidth MaxSurfaceCubemapLayeredWidth
MaxSurfaceCubemapLayeredLayers MaxTexture1DLinearWidth MaxTexture2DLinearWidth
MaxTexture2DLinearHeight MaxTexture2DLinearPitch MaxTexture2DMipmappedWidth
MaxTexture2DMipmappedHeight ComputeCapabilityMajor ComputeCapabilityMinor
MaxTexture1DMipmappedWidth StreamPrioritiesSupported GlobalL1CacheSupported
LocalL1CacheSupported MaxSharedMemoryPerMultiprocessor MaxRegistersPerMultiprocessor ManagedMemory
IsMultiGpuBoard MultiGpuBoardGroupID HostNativeAtomicSupported SingleToDoublePrecisionPerfRatio
PageableMemoryAccess ConcurrentManagedAccess ComputePreemptionSupported
CanUseHostPointerForRegisteredMem
95 CooperativeLaunch CooperativeMultiDeviceLaunch MaxSharedMemoryPerBlockOptin
CanFlushRemoteWrites HostRegisterSupported PageableMemoryAccessUsesHostPageTables
DirectManagedMemAccessFromHost
106 MaxBlocksPerMultiprocessor
108 MaxPersistingL2CacheSize MaxAccessPolicyWindowSize
111 ReservedSharedMemoryPerBlock SparseCudaArraySupported HostRegisterReadOnlySupported
115 MemoryPoolsSupported
"""


def _parse(text: str) -> dict[int, str]:
    names: dict[int, str] = {}
    number = 0
    for word in text.split():
        if word.isdigit():
            number = int(word)
            continue
        names[number] = word
        number += 1
    return names


ATTRIBUTE_NAMES = _parse(_ORDER)
