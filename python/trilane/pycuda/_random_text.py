"""Device text of the random generators: one kernel text over several kinds of state."""

from __future__ import annotations

XORWOW_STATE = """
typedef curandStateXORWOW state_t;
typedef unsigned int word_t;
__device__ word_t next_word(state_t *s) { return curand(s); }
__device__ float unit_float(state_t *s) { return curand_uniform(s); }
__device__ double unit_double(state_t *s) { return curand_uniform_double(s); }
extern "C" __global__ void start(state_t *states, const unsigned int *seeds,
                                 unsigned long long offset)
{
  unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seeds[id], id, offset, &states[id]);
}
extern "C" __global__ void skip(state_t *states, const unsigned long long *counts)
{
  unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
  skipahead(counts[id], &states[id]);
}
extern "C" __global__ void skip_sequence(state_t *states, const unsigned long long *counts)
{
  unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
  skipahead_sequence(counts[id], &states[id]);
}
"""

# L'Ecuyer's two recurrences of order three; their difference lies in [1, m1].
MRG_STATE = """
struct state_t { unsigned int x[3], y[3]; };
typedef unsigned int word_t;
__device__ unsigned int mrg_step(state_t *s)
{
  const long long m1 = 4294967087LL, m2 = 4294944443LL;
  long long p = (1403580LL * s->x[1] - 810728LL * s->x[0]) % m1;
  if (p < 0) p += m1;
  s->x[0] = s->x[1]; s->x[1] = s->x[2]; s->x[2] = (unsigned int) p;
  long long q = (527612LL * s->y[2] - 1370589LL * s->y[0]) % m2;
  if (q < 0) q += m2;
  s->y[0] = s->y[1]; s->y[1] = s->y[2]; s->y[2] = (unsigned int) q;
  return (unsigned int) (p > q ? p - q : p - q + m1);
}
__device__ word_t next_word(state_t *s)
{
  return (unsigned int) ((mrg_step(s) - 1) * (4294967296.0 / 4294967087.0));
}
__device__ float unit_float(state_t *s) { return (float) (mrg_step(s) * (1.0 / 4294967088.0)); }
__device__ double unit_double(state_t *s) { return mrg_step(s) * (1.0 / 4294967088.0); }
"""

# In Gray code order: one direction number is added per step, that of the lowest zero bit.
SOBOL_STATE = """
typedef {word} word_t;
struct state_t {{ word_t x, i, direction[{bits}]; }};
__device__ word_t next_word(state_t *s)
{{
  word_t result = s->x;
  int bit = {lowest}(~s->i) - 1;
  if (bit >= 0) s->x ^= s->direction[bit];
  ++s->i;
  return result;
}}
__device__ float unit_float(state_t *s)
{{
  return (float) (((double) (next_word(s) >> {shift}) + 0.5) * {inverse});
}}
__device__ double unit_double(state_t *s)
{{
  return ((double) (next_word(s) >> {shift}) + 0.5) * {inverse};
}}
"""

# A pair of Box and Muller is not needed for sequences that must not be mixed: quasi-random numbers
# go through the inverse of the distribution function, one number each.
INVERSE_NORMAL = """
__device__ float normal_float(state_t *s) { return (float) normcdfinv(unit_double(s)); }
__device__ double normal_double(state_t *s) { return normcdfinv(unit_double(s)); }
"""

BOX_MULLER = """
__device__ double normal_double(state_t *s)
{
  double u = unit_double(s), v = unit_double(s);
  return sqrt(-2.0 * log(u)) * cospi(2.0 * v);
}
__device__ float normal_float(state_t *s) { return (float) normal_double(s); }
"""

# Inversion from twelve deviations below the mean on: less than 1e-30 of the mass lies before.
KERNELS = """
__device__ double poisson(state_t *s, double lambda)
{
  if (!(lambda > 0)) return 0;
  double u = unit_double(s);
  double k = floor(lambda - 12.0 * sqrt(lambda) - 12.0);
  if (k < 0) k = 0;
  double p = exp(k * log(lambda) - lambda - lgamma(k + 1.0)), sum = p;
  double limit = lambda + 40.0 * sqrt(lambda) + 40.0;
  while (sum < u && k < limit)
  {
    k += 1.0;
    p *= lambda / k;
    sum += p;
  }
  return k;
}
#define FILL(NAME, TYPE, PARAMETERS, VALUE)                                                     \\
  extern "C" __global__ void NAME(state_t *states, TYPE *out, unsigned long long n PARAMETERS)  \\
  {                                                                                             \\
    unsigned int id = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;      \\
    state_t s = states[id];                                                                     \\
    for (unsigned long long i = id; i < n; i += all) out[i] = (TYPE) (VALUE);                   \\
    states[id] = s;                                                                             \\
  }
#define NONE
#define MEAN , double mean, double stddev
#define RATE , double lambda
FILL(uniform_u4, unsigned int, NONE, next_word(&s))
FILL(uniform_u8, unsigned long long, NONE, next_word(&s))
FILL(uniform_f4, float, NONE, unit_float(&s))
FILL(uniform_f8, double, NONE, unit_double(&s))
FILL(normal_f4, float, NONE, normal_float(&s))
FILL(normal_f8, double, NONE, normal_double(&s))
FILL(log_normal_f4, float, MEAN, exp(mean + stddev * normal_double(&s)))
FILL(log_normal_f8, double, MEAN, exp(mean + stddev * normal_double(&s)))
FILL(poisson_u4, unsigned int, RATE, poisson(&s, lambda))
FILL(poisson_f4, float, RATE, poisson(&s, lambda))
FILL(poisson_f8, double, RATE, poisson(&s, lambda))
FILL(poisson_each_u4, unsigned int, NONE, poisson(&s, out[i]))
FILL(poisson_each_f4, float, NONE, poisson(&s, out[i]))
FILL(poisson_each_f8, double, NONE, poisson(&s, out[i]))
"""


def sobol_state(bits: int) -> str:
    """The state of a Sobol generator of words of `bits` bits, 32 or 64."""
    return SOBOL_STATE.format(
        bits=bits,
        word="unsigned int" if bits == 32 else "unsigned long long",
        lowest="__ffs" if bits == 32 else "__ffsll",
        shift=0 if bits == 32 else 12,
        inverse="0x1p-32" if bits == 32 else "0x1p-52",
    )
