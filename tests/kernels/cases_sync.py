"""cuda::atomic, cuda::barrier, cuda::pipeline and their kin, and what cuda::std has beside them."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import kernel

N = 64
T = np.arange(N)
_T = "const int t = threadIdx.x;"
_B = {"block": (N,)}
Z = np.zeros(N, "int32")


def headers(*names: str) -> str:
    return "".join(f"#include <{name}>\n" for name in names)


kernel(
    "atomic_counts_and_orders",
    f"""{_T} cuda::atomic_ref<int, cuda::thread_scope_device> sum(p0[0]);
       cuda::atomic_ref<unsigned, cuda::thread_scope_block> bits(p1[0]);
       sum.fetch_add(t, cuda::memory_order_relaxed); bits.fetch_or(1u << (t & 31));
       cuda::atomic_ref<int> low(p0[1]), high(p0[2]); low.fetch_min(30 - t); high.fetch_max(7 * t);
       cuda::std::atomic_ref<int> one(p0[3]); one++; --one; one += 2;""",
    [np.array([5, 100, -3, 0], "int32"), np.zeros(1, "uint32")],
    {0: np.array([5 + T.sum(), 30 - 63, 7 * 63, 2 * N]), 1: np.array([0xFFFFFFFF])},
    head=headers("cuda/atomic"),
    **_B,
)
kernel(
    "atomic_objects_in_shared_memory",
    f"""{_T} __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
       __shared__ cuda::atomic<float, cuda::thread_scope_block> sum;
       __shared__ cuda::atomic<unsigned long long> wide;
       if (t == 0) {{ count = 3; sum.store(0.5f, cuda::std::memory_order_release); wide = 0; }}
       __syncthreads(); count.fetch_sub(1, cuda::std::memory_order_acq_rel); sum.fetch_add(0.25f);
       wide ^= 1ull << t; int seen = wide.load() != 0; __syncthreads();
       if (t == 0) {{ p0[0] = count; p0[1] = (int)(sum.load() * 4); p0[2] = wide == ~0ull; p0[3] = seen;
         int expected = count.load() + 1; p0[4] = count.compare_exchange_strong(expected, 9); p0[5] = expected;
         p0[6] = count.compare_exchange_weak(expected, 8); p0[7] = count.exchange(4); }}""",
    [np.zeros(8, "int32")],
    np.array([3 - N, 2 + N, 1, 1, 0, 3 - N, 1, 8]),
    head=headers("cuda/atomic"),
    **_B,
)
kernel(
    "atomic_of_a_structure_and_a_pointer",
    """struct Pair { short a, b; }; __shared__ cuda::atomic<Pair, cuda::thread_scope_block> pair;
       __shared__ cuda::atomic<int*, cuda::thread_scope_block> next;
       if (threadIdx.x == 0) { pair.store(Pair{1, 2}); next.store(p0 + 2); } __syncthreads();
       Pair old = pair.load(), fresh; do { fresh = Pair{(short)(old.a + 1), (short)(old.b + 3)}; }
       while (!pair.compare_exchange_weak(old, fresh));
       *next.fetch_add(1) = 5; __syncthreads();
       if (threadIdx.x == 0) { p0[0] = pair.load().a; p0[1] = pair.load().b; }""",
    [np.zeros(2 + N, "int32")],
    np.concatenate([[1 + N, 2 + 3 * N], np.full(N, 5)]),
    head=headers("cuda/atomic"),
    **_B,
)
kernel(
    "atomic_wait_and_notify",
    f"""{_T} __shared__ cuda::atomic<int, cuda::thread_scope_block> turn;
       if (t == 0) turn.store(0); __syncthreads();
       for (int seen = turn.load(); seen != t; seen = turn.load()) turn.wait(seen);
       p0[t] = turn.load() * 3; turn.store(t + 1); turn.notify_all();""",
    [np.zeros(8, "int32")],
    3 * np.arange(8),
    head=headers("cuda/atomic"),
    block=(8,),
)
kernel(
    "atomic_flag_and_fence",
    """__shared__ cuda::std::atomic_flag taken; __shared__ int winner;
       if (threadIdx.x == 0) taken.clear(); __syncthreads();
       if (!taken.test_and_set()) { winner = 77; cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_block); }
       __syncthreads(); p0[threadIdx.x] = winner + taken.test();""",
    [Z],
    np.full(N, 78),
    head=headers("cuda/atomic", "cuda/std/atomic"),
    **_B,
)
_BAR = """__shared__ cuda::barrier<cuda::thread_scope_block> bar;
       if (threadIdx.x == 0) init(&bar, blockDim.x); __syncthreads();"""
kernel(
    "barrier_rounds",
    f"""{_T} {_BAR} __shared__ int s[64]; int v = p1[t];
       for (int i = 0; i < 5; ++i) {{ s[t] = v; bar.arrive_and_wait(); v += s[(t + 1) & 63];
         auto token = bar.arrive(); v ^= i; bar.wait(cuda::std::move(token)); }} p0[t] = v;""",
    [Z, (T * 5 % 17).astype("int32")],
    (lambda v: [v := (v + np.roll(v, -1)) ^ i for i in range(5)][-1])(T * 5 % 17),
    head=headers("cuda/barrier", "cuda/std/utility"),
    **_B,
)
kernel(
    "barrier_of_producers_and_consumers",
    f"""{_T} __shared__ cuda::barrier<cuda::thread_scope_block> filled[2], emptied[2]; __shared__ int buffer[2][32];
       if (t < 2) {{ init(&filled[t], 64); init(&emptied[t], 64); }} __syncthreads();
       if (t < 32) {{
         for (int i = 0; i < 6; ++i) {{ emptied[i & 1].arrive_and_wait(); buffer[i & 1][t] = 10 * i + t; (void)filled[i & 1].arrive(); }}
       }} else {{
         (void)emptied[0].arrive(); (void)emptied[1].arrive(); int sum = 0;
         for (int i = 0; i < 6; ++i) {{ filled[i & 1].arrive_and_wait(); sum = sum * 3 + buffer[i & 1][t - 32]; (void)emptied[i & 1].arrive(); }}
         p0[t - 32] = sum; }}""",
    [np.zeros(32, "int32")],
    sum(3 ** (5 - i) * (10 * i + np.arange(32)) for i in range(6)),
    head=headers("cuda/barrier"),
    **_B,
)
kernel(
    "barrier_drop_and_parity",
    f"""{_T} {_BAR} __shared__ int s[64], u[64]; s[t] = t; if (t >= 40) {{ bar.arrive_and_drop(); return; }}
       bar.arrive_and_wait(); int v = s[63 - t]; u[t] = 2 * t; auto token = bar.arrive();
       while (!bar.try_wait_for(cuda::std::move(token), cuda::std::chrono::microseconds(1))) {{}} v += 100 * u[39 - t];
       (void)bar.arrive(); bar.wait_parity(false); p0[t] = v;""",
    [Z],
    np.where(T < 40, 63 - T + 200 * (39 - T), 0),
    head=headers("cuda/barrier", "cuda/std/chrono", "cuda/std/utility"),
    **_B,
)
kernel(
    "barrier_completion_function",
    f"""{_T} __shared__ int total;
       struct Add {{ int* at; __device__ void operator()() noexcept {{ *at += 5; }} }};
       using Barrier = cuda::barrier<cuda::thread_scope_block, Add>;
       __shared__ cuda::std::aligned_storage_t<sizeof(Barrier), alignof(Barrier)> place; Barrier* bar = (Barrier*)&place;
       if (t == 0) {{ total = 1; new (bar) Barrier(64, Add{{&total}}); }} __syncthreads();
       bar->arrive_and_wait(); int v = total; bar->arrive_and_wait(); p0[t] = v * 100 + total;""",
    [Z],
    np.full(N, 611),
    head=headers("cuda/barrier", "cuda/std/type_traits"),
    **_B,
)
kernel(
    "memcpy_async_at_a_barrier",
    f"""{_T} {_BAR} auto block = cooperative_groups::this_thread_block(); alignas(16) __shared__ int s[128];
       cuda::memcpy_async(block, s, p1, sizeof(int) * 64, bar);
       cuda::memcpy_async(s + 64 + t, p1 + 63 - t, sizeof(int), bar);
       bar.arrive_and_wait(); p0[t] = s[t ^ 1] * 1000 + s[64 + (t ^ 3)]; __syncthreads();
       cuda::memcpy_async(block, s, p1 + 64, cuda::aligned_size_t<16>(sizeof(int) * 64), bar);
       bar.arrive_and_wait(); p0[t] += s[63 - t] * 1000000;""",
    [Z, (np.arange(2 * N) % 90).astype("int32")],
    (T ^ 1) * 1000 + (63 - (T ^ 3)) + (127 - T) % 90 * 1000000,
    head=headers("cooperative_groups.h", "cuda/barrier"),
    **_B,
)
kernel(
    "pipeline_of_one_thread",
    """__shared__ int s[2][64]; cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
       const int t = threadIdx.x; int sum = 0;
       for (int i = 0; i < 2; ++i) { pipe.producer_acquire(); cuda::memcpy_async(&s[i][t], p1 + 64 * i + t, 4, pipe); pipe.producer_commit(); }
       for (int i = 0; i < 4; ++i) { cuda::pipeline_consumer_wait_prior<1>(pipe); if (i == 3) pipe.consumer_wait();
         __syncthreads(); sum = sum * 2 + s[i & 1][t ^ 1]; __syncthreads(); pipe.consumer_release();
         pipe.producer_acquire(); if (i < 2) cuda::memcpy_async(&s[i][t], p1 + 64 * (i + 2) + t, 4, pipe); pipe.producer_commit(); }
       p0[t] = sum;""",
    [Z, (np.arange(4 * N) * 3 % 50).astype("int32")],
    sum(2 ** (3 - i) * ((64 * i + (T ^ 1)) * 3 % 50) for i in range(4)),
    head=headers("cuda/pipeline"),
    **_B,
)
_PIPE = """auto block = cooperative_groups::this_thread_block(); __shared__ int s[3][64];
       __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;"""
kernel(
    "pipeline_of_a_block",
    f"""{_T} {_PIPE} auto pipe = cuda::make_pipeline(block, &state); int sum = 0;
       for (int next = 0, i = 0; i < 7; ++i) {{
         for (; next < 7 && next < i + 3; ++next) {{ pipe.producer_acquire();
           cuda::memcpy_async(block, s[next % 3], p1 + 64 * next, sizeof(int) * 64, pipe); pipe.producer_commit(); }}
         pipe.consumer_wait(); sum = sum * 2 + s[i % 3][63 - t]; pipe.consumer_release(); }}
       p0[t] = sum;""",
    [Z, (np.arange(7 * N) * 3 % 50).astype("int32")],
    sum(2 ** (6 - i) * ((64 * i + 63 - T) * 3 % 50) for i in range(7)),
    head=headers("cooperative_groups.h", "cuda/pipeline"),
    **_B,
)
for _how, _made in (
    ("role", "t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer"),
    ("count", "(size_t)32"),
):
    kernel(
        f"pipeline_by_{_how}",
        f"""{_T} {_PIPE} auto pipe = cuda::make_pipeline(block, &state, {_made}); int sum = 0;
           if (t < 32) {{
             for (int i = 0; i < 7; ++i) {{ pipe.producer_acquire();
               cuda::memcpy_async(&s[i % 3][t], p1 + 32 * i + t, sizeof(int), pipe); pipe.producer_commit(); }}
           }} else {{
             for (int i = 0; i < 7; ++i) {{ pipe.consumer_wait(); sum = sum * 2 + s[i % 3][63 - t]; pipe.consumer_release(); }}
             p0[t - 32] = sum; }}
           pipe.quit();""",
        [np.zeros(32, "int32"), (np.arange(7 * N) * 3 % 50).astype("int32")],
        sum(2 ** (6 - i) * ((32 * i + 31 - np.arange(32)) * 3 % 50) for i in range(7)),
        head=headers("cooperative_groups.h", "cuda/pipeline"),
        **_B,
    )
kernel(
    "pipeline_primitives",
    """alignas(16) __shared__ int4 s[2][32]; const int t = threadIdx.x; int sum = 0;
       for (int i = 0; i < 2; ++i) { __pipeline_memcpy_async(&s[i][t], (const int4*)p1 + 32 * i + t, 16, i * 8); __pipeline_commit(); }
       __pipeline_wait_prior(1); __syncthreads(); int4 a = s[0][t ^ 1];
       __pipeline_wait_prior(0); __syncthreads(); int4 b = s[1][t ^ 1];
       p0[t] = a.x + a.w * 10 + b.x * 100 + b.w * 1000;""",
    [np.zeros(32, "int32"), (np.arange(256) % 7).astype("int32")],
    (lambda u: u * 4 % 7 + (u * 4 + 3) % 7 * 10 + (128 + u * 4) % 7 * 100)(np.arange(32) ^ 1),
    head=headers("cuda_pipeline.h"),
)
kernel(
    "awbarrier_primitives",
    f"""{_T} __shared__ __mbarrier_t bar; __shared__ int s[64];
       if (t == 0) __mbarrier_init(&bar, 64); __syncthreads(); int v = t;
       for (int i = 0; i < 3; ++i) {{ s[t] = v; __mbarrier_token_t token = __mbarrier_arrive(&bar);
         while (!__mbarrier_test_wait(&bar, token)) {{}} v += s[(t + 5) & 63];
         token = __mbarrier_arrive(&bar); while (!__mbarrier_test_wait(&bar, token)) {{}} }}
       p0[t] = v;""",
    [Z],
    (lambda v: [v := v + np.roll(v, -5) for _ in range(3)][-1])(T),
    head=headers("cuda_awbarrier_primitives.h"),
    **_B,
)
kernel(
    "latch_and_semaphore",
    f"""{_T} using Latch = cuda::latch<cuda::thread_scope_block>; using Semaphore = cuda::binary_semaphore<cuda::thread_scope_block>;
       alignas(16) __shared__ char places[2][64]; Latch* all = (Latch*)places[0]; Semaphore* one = (Semaphore*)places[1];
       __shared__ volatile int sum; if (t == 0) {{ new (all) Latch(64); new (one) Semaphore(1); sum = 0; }} __syncthreads();
       one->acquire(); sum = sum + t; one->release(); all->arrive_and_wait(); p0[t] = sum;""",
    [Z],
    np.full(N, T.sum()),
    head=headers("cuda/latch", "cuda/semaphore"),
    **_B,
)
kernel(
    "std_bits_spans_optionals",
    f"""{_T} namespace cs = cuda::std; cs::span<int> all(p1, 64); cs::span<int> part = all.subspan(t, 64 - t);
       cs::optional<int> even; if ((t & 1) == 0) even = part[0];
       p0[t] = cs::popcount((unsigned)t) + 10 * cs::countl_zero((unsigned char)t) + 100 * cs::bit_width((unsigned)t)
         + 10000 * even.value_or(3) + 1000000 * (int)cs::rotl((unsigned char)(t | 0x81), 1) % 7
         + (int)(cs::bit_cast<unsigned>(1.0f) >> 29) + (int)part.size();""",
    [Z, (T % 9).astype("int32")],
    np.array(
        [
            bin(t).count("1")
            + 10 * (8 - t.bit_length())
            + 100 * t.bit_length()
            + 10000 * (t % 9 if t % 2 == 0 else 3)
            + 1000000 * (((t | 0x81) << 1 | (t | 0x81) >> 7) & 255) % 7
            + 1
            + 64
            - t
            for t in range(N)
        ]
    ),
    head=headers("cuda/std/bit", "cuda/std/span", "cuda/std/optional"),
    **_B,
)
kernel(
    "std_numbers_and_folds",
    """namespace cs = cuda::std; int a[6] = {5, 1, 4, 2, 8, 3}, b[6];
       cs::iota(b, b + 6, 2); p0[0] = cs::accumulate(a, a + 6, 100); p0[1] = cs::inner_product(a, a + 6, b, 0);
       cs::inclusive_scan(a, a + 6, b); p0[2] = b[5] * 100 + b[2]; cs::exclusive_scan(a, a + 6, b, 7); p0[3] = b[5];
       p0[4] = cs::gcd(84, 36) * 1000 + cs::lcm(4, 6); p0[5] = (int)(cs::numbers::pi_v<float> * 1000);
       p0[6] = cuda::ceil_div(13, 4) * 10 + (int)cs::size(a); cs::complex<float> z(1.0f, 2.0f); z = z * z; p0[7] = (int)(z.real() * 10 + z.imag());
       p0[8] = (int)cs::chrono::duration_cast<cs::chrono::microseconds>(cs::chrono::milliseconds(3) + cs::chrono::microseconds(5)).count();""",
    [np.zeros(9, "int32")],
    np.array([123, 10 + 3 + 16 + 10 + 48 + 21, 2310, 27, 12012, 3141, 46, -26, 3005]),
    head=headers("cuda/std/numeric", "cuda/std/numbers", "cuda/std/complex", "cuda/std/chrono",
                 "cuda/std/iterator", "cuda/cmath"),
    block=(1,),
)  # fmt: skip
kernel(
    "cluster_ring",
    """namespace cg = cooperative_groups; cg::cluster_group cluster = cg::this_cluster(); __shared__ int s[16];
       const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks(); s[t] = 100 * blockIdx.x + t;
       int* next = cluster.map_shared_rank(s, (rank + 1) % blocks); cluster.sync(); int v = next[t ^ 1]; cluster.sync();
       atomicAdd(next + t, rank); cluster.sync(); p0[16 * blockIdx.x + t] = v * 1000 + s[t] % 100 - t;""",
    [np.zeros(16 * 8, "int32")],
    np.array([[(b // 4 * 4 + (b + 1) % 4) * 100 + (t ^ 1) for t in range(16)] for b in range(8)]).ravel() * 1000
    + np.repeat((np.arange(8) - 1) % 4, 16),
    head=headers("cooperative_groups.h") + "#define f __cluster_dims__(4, 1, 1) f",
    grid=(8,),
    block=(16,),
)  # fmt: skip
