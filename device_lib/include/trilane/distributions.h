// Random distributions by element: every element has its own Philox-4x32-10 sequence, so that the
// values depend on the seed, the call and the element alone, not on the device or the launch.
#ifndef TRILANE_DISTRIBUTIONS_H_INCLUDED
#define TRILANE_DISTRIBUTIONS_H_INCLUDED

#include "trilane/philox.h"

class PhiloxStream {
  public:
    // seed: key; call: which call of the host's generator; element: which element of the array.
    __device__ PhiloxStream(unsigned long long seed, unsigned long long call,
                            unsigned long long element)
        : key0_(static_cast<unsigned>(seed) ^ static_cast<unsigned>(call >> 32) * 0x9E3779B9u),
          key1_(static_cast<unsigned>(seed >> 32)),
          draw_(0), call_(static_cast<unsigned>(call)),
          element0_(static_cast<unsigned>(element)),
          element1_(static_cast<unsigned>(element >> 32) | 0x80000000u), left_(0) {}

    __device__ unsigned bits() {
        if (left_ == 0) refill();
        return words_[--left_];
    }
    // (0, 1): 53 bits, never an end point.
    __device__ double uniform() {
        const unsigned long long high = bits() >> 5, low = bits() >> 6;
        return (static_cast<double>(high * 67108864ull + low) + 0.5) * (1.0 / 9007199254740992.0);
    }
    __device__ double exponential() { return -log(uniform()); }
    __device__ double normal() {
        const double radius = sqrt(2.0 * exponential());
        return radius * cospi(2.0 * uniform());
    }

  private:
    __device__ void refill() {
        const trilane::philox_counter block = trilane::philox4x32_10(
            trilane::philox_counter{{draw_++, call_, element0_, element1_}}, key0_, key1_);
        for (int i = 0; i < 4; ++i) words_[i] = block.v[3 - i];
        left_ = 4;
    }
    unsigned key0_, key1_, draw_, call_, element0_, element1_;
    unsigned words_[4];
    int left_;
};

// Marsaglia and Tsang's squeeze; below shape 1 by the boost with a power of a uniform.
__device__ inline double draw_gamma(PhiloxStream& s, double shape) {
    if (!(shape > 0.0)) return shape == 0.0 ? 0.0 : nan("");
    const double boosted = shape < 1.0 ? shape + 1.0 : shape;
    const double d = boosted - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    double result = 0.0;
    for (;;) {
        const double x = s.normal(), t = 1.0 + c * x;
        if (t <= 0.0) continue;
        const double v = t * t * t;
        if (log(s.uniform()) < 0.5 * x * x + d - d * v + d * log(v)) {
            result = d * v;
            break;
        }
    }
    return shape < 1.0 ? result * pow(s.uniform(), 1.0 / shape) : result;
}

__device__ inline double draw_beta(PhiloxStream& s, double a, double b) {
    if (a <= 1.0 && b <= 1.0) {
        // Johnk's method: gammas of tiny shape would underflow.
        for (int trial = 0; trial < 100000; ++trial) {
            const double lu = log(s.uniform()) / a, lv = log(s.uniform()) / b;
            const double m = fmax(lu, lv);
            const double total = m + log(exp(lu - m) + exp(lv - m));
            if (total <= 0.0) return exp(lu - total);
        }
        return nan("");
    }
    const double x = draw_gamma(s, a), y = draw_gamma(s, b);
    return x / (x + y);
}

// Multiplication of uniforms below mean 10, Hormann's PTRS above.
__device__ inline double draw_poisson(PhiloxStream& s, double mean) {
    if (!(mean > 0.0)) return mean == 0.0 ? 0.0 : nan("");
    if (mean < 10.0) {
        const double limit = exp(-mean);
        double product = s.uniform();
        double count = 0.0;
        while (product > limit) {
            product *= s.uniform();
            count += 1.0;
        }
        return count;
    }
    const double root = sqrt(mean), log_mean = log(mean);
    const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        const double u = s.uniform() - 0.5, v = s.uniform();
        const double us = 0.5 - fabs(u);
        const double k = floor((2.0 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= vr) return k;
        if (k < 0.0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <=
            -mean + k * log_mean - lgamma(k + 1.0)) {
            return k;
        }
    }
}

// Sum by inversion below mean 10, Hormann's BTRS above.
__device__ inline double draw_binomial(PhiloxStream& s, double n, double p) {
    if (!(p > 0.0) || n <= 0.0) return 0.0;
    if (p >= 1.0) return n;
    const double q = p > 0.5 ? 1.0 - p : p;
    double k = 0.0;
    if (n * q < 10.0) {
        // Waiting times between successes.
        const double step = log1p(-q);
        double place = 0.0;
        for (;;) {
            place += floor(log(s.uniform()) / step) + 1.0;
            if (place > n) break;
            k += 1.0;
        }
    } else {
        const double spread = sqrt(n * q * (1.0 - q));
        const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * q;
        const double c = n * q + 0.5, vr = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
        const double odds = log(q / (1.0 - q)), mode = floor((n + 1.0) * q);
        const double h = lgamma(mode + 1.0) + lgamma(n - mode + 1.0);
        for (;;) {
            const double u = s.uniform() - 0.5;
            double v = s.uniform();
            const double us = 0.5 - fabs(u);
            k = floor((2.0 * a / us + b) * u + c);
            if (k < 0.0 || k > n) continue;
            if (us >= 0.07 && v <= vr) break;
            v = log(v * alpha / (a / (us * us) + b));
            if (v <= h - lgamma(k + 1.0) - lgamma(n - k + 1.0) + (k - mode) * odds) break;
        }
    }
    return p > 0.5 ? n - k : k;
}

__device__ inline double draw_geometric(PhiloxStream& s, double p) {
    if (p >= 1.0) return 1.0;
    return ceil(log(s.uniform()) / log1p(-p));
}

// Successes one by one from the shrinking urn; symmetric, so at most half of it is drawn.
__device__ inline double draw_hypergeometric(PhiloxStream& s, double good, double bad, double n) {
    const double total = good + bad;
    const double draws = n > total / 2.0 ? total - n : n;
    double left_good = good, left = total, found = 0.0;
    for (double i = 0.0; i < draws && left_good > 0.0; i += 1.0) {
        if (s.uniform() * left < left_good) {
            found += 1.0;
            left_good -= 1.0;
        }
        left -= 1.0;
    }
    return draws == n ? found : good - found;
}

// Kemp's second algorithm.
__device__ inline double draw_logseries(PhiloxStream& s, double p) {
    if (p == 0.0) return 1.0;
    const double r = log1p(-p);
    for (;;) {
        const double v = s.uniform();
        if (v >= p) return 1.0;
        const double q = -expm1(r * s.uniform());
        if (v <= q * q) {
            const double k = floor(1.0 + log(v) / log(q));
            if (k >= 1.0) return k;
            continue;
        }
        return v >= q ? 1.0 : 2.0;
    }
}

// Devroye's rejection.
__device__ inline double draw_zipf(PhiloxStream& s, double a) {
    const double am1 = a - 1.0, b = pow(2.0, am1);
    for (;;) {
        const double u = s.uniform(), v = s.uniform();
        const double x = floor(pow(u, -1.0 / am1));
        if (x > 9.0e18 || x < 1.0) continue;
        const double t = pow(1.0 + 1.0 / x, am1);
        if (v * x * (t - 1.0) / (b - 1.0) <= t / b) return x;
    }
}

// Best and Fisher's rejection; tends to the uniform for kappa to 0.
__device__ inline double draw_vonmises(PhiloxStream& s, double mu, double kappa) {
    const double pi = 3.14159265358979323846;
    double angle = 0.0;
    if (kappa < 1e-8) {
        angle = pi * (2.0 * s.uniform() - 1.0);
    } else {
        double r;
        if (kappa < 1e-5) {
            r = 1.0 / kappa + kappa;
        } else {
            const double tau = 1.0 + sqrt(1.0 + 4.0 * kappa * kappa);
            const double rho = (tau - sqrt(2.0 * tau)) / (2.0 * kappa);
            r = (1.0 + rho * rho) / (2.0 * rho);
        }
        double w = 1.0;
        for (;;) {
            const double z = cospi(s.uniform());
            w = (1.0 + r * z) / (r + z);
            const double y = kappa * (r - w), v = s.uniform();
            if (y * (2.0 - y) - v >= 0.0 || log(y / v) + 1.0 - y >= 0.0) break;
        }
        w = fmin(1.0, fmax(-1.0, w));
        angle = s.uniform() < 0.5 ? -acos(w) : acos(w);
    }
    angle += mu;
    const double turned = fmod(fabs(angle) + pi, 2.0 * pi) - pi;
    return angle < 0.0 ? -turned : turned;
}

// Michael, Schucany and Haas.
__device__ inline double draw_wald(PhiloxStream& s, double mean, double scale) {
    const double z = s.normal(), y = mean * z * z;
    const double ratio = mean / (2.0 * scale);
    const double x = mean + ratio * (y - sqrt(4.0 * scale * y + y * y));
    return s.uniform() <= mean / (mean + x) ? x : mean * mean / x;
}

__device__ inline double draw_noncentral_chisquare(PhiloxStream& s, double df, double nonc) {
    if (nonc == 0.0) return 2.0 * draw_gamma(s, df / 2.0);
    if (df > 1.0) {
        const double z = s.normal() + sqrt(nonc);
        return 2.0 * draw_gamma(s, (df - 1.0) / 2.0) + z * z;
    }
    return 2.0 * draw_gamma(s, df / 2.0 + draw_poisson(s, nonc / 2.0));
}

#endif  // TRILANE_DISTRIBUTIONS_H_INCLUDED
