// Clusters of blocks: their registers, their barrier, the shared memory of their other blocks.
#pragma once

extern "C" __device__ void* __trl_rt_cluster_map(const void* address, unsigned int rank);
extern "C" __device__ unsigned int __trl_rt_cluster_rank(const void* address);

TRILANE_D dim3 __clusterDim() {
    return dim3(__nvvm_read_ptx_sreg_cluster_nctaid_x(), __nvvm_read_ptx_sreg_cluster_nctaid_y(),
                __nvvm_read_ptx_sreg_cluster_nctaid_z());
}
TRILANE_D dim3 __clusterRelativeBlockIdx() {
    return dim3(__nvvm_read_ptx_sreg_cluster_ctaid_x(), __nvvm_read_ptx_sreg_cluster_ctaid_y(),
                __nvvm_read_ptx_sreg_cluster_ctaid_z());
}
TRILANE_D dim3 __clusterGridDimInClusters() {
    return dim3(__nvvm_read_ptx_sreg_nclusterid_x(), __nvvm_read_ptx_sreg_nclusterid_y(),
                __nvvm_read_ptx_sreg_nclusterid_z());
}
TRILANE_D dim3 __clusterIdx() {
    return dim3(__nvvm_read_ptx_sreg_clusterid_x(), __nvvm_read_ptx_sreg_clusterid_y(),
                __nvvm_read_ptx_sreg_clusterid_z());
}
TRILANE_D unsigned int __clusterRelativeBlockRank() {
    return __nvvm_read_ptx_sreg_cluster_ctarank();
}
TRILANE_D unsigned int __clusterSizeInBlocks() { return __nvvm_read_ptx_sreg_cluster_nctarank(); }
TRILANE_D void __cluster_barrier_arrive() { __nvvm_barrier_cluster_arrive(); }
TRILANE_D void __cluster_barrier_arrive_relaxed() { __nvvm_barrier_cluster_arrive_relaxed(); }
TRILANE_D void __cluster_barrier_wait() { __nvvm_barrier_cluster_wait(); }
TRILANE_D void* __cluster_map_shared_rank(const void* address, unsigned int rank) {
    return __trl_rt_cluster_map(address, rank);
}
TRILANE_D unsigned int __cluster_query_shared_rank(const void* address) {
    return __trl_rt_cluster_rank(address);
}
