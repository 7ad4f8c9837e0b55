"""The CUDA C++ of functions that kernels do not have of themselves, in double precision.

Sources are definitions and expansions of the Digital Library of Mathematical Functions (DLMF).
"""

from __future__ import annotations

DIGAMMA = r"""
// DLMF 5.5.2, 5.5.4 up to x >= 10, then 5.11.2.
__device__ inline double trilane_digamma(double x) {
    const double pi = 3.14159265358979323846;
    if (x == 0.0) return copysign(1.0 / 0.0, -x);
    double r = 0.0;
    if (x < 0.0) {
        if (x == floor(x)) return 0.0 / 0.0;
        r = -pi * cospi(x - floor(x)) / sinpi(x - floor(x));
        x = 1.0 - x;
    }
    for (; x < 10.0; x += 1.0) r -= 1.0 / x;
    const double s = 1.0 / (x * x);
    const double tail = s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 -
                        s * (1.0 / 132 - s * (691.0 / 32760 - s / 12))))));
    return r + log(x) - 0.5 / x - tail;
}
"""

ZETA = r"""
// Hurwitz's function by the formula of Euler and Maclaurin, DLMF 25.11.5 with ten terms ahead.
__device__ inline double trilane_zeta(double x, double q) {
    if (x == 1.0) return 1.0 / 0.0;
    if (!(x > 1.0) || q != q) return 0.0 / 0.0;
    if (q <= 0.0) {
        if (q == floor(q)) return 1.0 / 0.0;
        if (x != floor(x)) return 0.0 / 0.0;
    }
    // B(2k) / (2k)!
    const double weights[12] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160,
        -691.0 / 1307674368000.0, 1.0 / 74724249600.0, -3617.0 / 10670622842880000.0,
        43867.0 / 5109094217170944000.0, -174611.0 / 802857662698291200000.0,
        77683.0 / 14101100039391805440000.0, -236364091.0 / 1693824136731743669452800000.0};
    double sum = 0.0, w = q;
    int k = 0;
    for (; k < 10 || w < 10.0; ++k, w = q + k) sum += pow(w, -x);
    const double last = pow(w, -x);
    sum += last * w / (x - 1.0) + 0.5 * last;
    double factor = x * last / w;
    for (int j = 0; j < 12; ++j) {
        const double term = weights[j] * factor;
        sum += term;
        if (fabs(term) < 1e-17 * fabs(sum)) break;
        factor *= (x + 2 * j + 1) * (x + 2 * j + 2) / (w * w);
    }
    return sum;
}
"""

POLYGAMMA = (
    DIGAMMA
    + ZETA
    + r"""
// DLMF 5.15.1
__device__ inline double trilane_polygamma(double n, double x) {
    if (n < 0.0 || n != floor(n)) return 0.0 / 0.0;
    if (n == 0.0) return trilane_digamma(x);
    const double value = tgamma(n + 1.0) * trilane_zeta(n + 1.0, x);
    return fmod(n, 2.0) == 0.0 ? -value : value;
}
"""
)

GAMMAINC = r"""
// x^a e^-x / gamma(a + 1). For large a by the distance from the maximum, as the logarithms of
// its factors cancel there.
__device__ inline double trilane_gamma_density(double a, double x) {
    if (a < 20.0) return exp(a * log(x) - x - lgamma(a + 1.0));
    const double u = (x - a) / a, s = 1.0 / (a * a);
    // u - log1p(u); near 0 by the series, DLMF 4.6.1
    double d = u - log(x / a);
    if (fabs(u) < 0.1) {
        double power = u * u;
        d = 0.0;
        for (int k = 2; k < 24; ++k, power *= -u) d += power / k;
    }
    const double stirling = (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 -
                            s * (1.0 / 1188 - s * 691.0 / 360360))))) / a;
    return exp(-a * d - stirling) / sqrt(6.283185307179586477 * a);
}

// The lower function by its series (DLMF 8.11.4) or the upper one by its continued fraction
// (DLMF 8.9.2), whichever converges; the other is the rest to 1.
__device__ inline double trilane_gammainc(double a, double x, bool upper) {
    if (!(a >= 0.0) || !(x >= 0.0) || (a == 0.0 && x == 0.0)) return 0.0 / 0.0;
    if (a == 0.0) return upper ? 0.0 : 1.0;
    if (x == 0.0) return upper ? 1.0 : 0.0;
    if (isinf(a)) return isinf(x) ? 0.0 / 0.0 : upper ? 1.0 : 0.0;
    if (isinf(x)) return upper ? 0.0 : 1.0;
    const double density = trilane_gamma_density(a, x);
    if (x < a + 1.0) {
        double term = 1.0, sum = 1.0;
        for (double k = a + 1.0; term > 1e-17 * sum; k += 1.0) {
            term *= x / k;
            sum += term;
        }
        const double lower = density * sum;
        return upper ? 1.0 - lower : lower;
    }
    // Lentz's evaluation
    const double tiny = 1e-300;
    double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, h = d;
    for (int k = 1; k < 100000; ++k) {
        const double n = -k * (k - a);
        b += 2.0;
        d = n * d + b;
        if (fabs(d) < tiny) d = tiny;
        c = b + n / c;
        if (fabs(c) < tiny) c = tiny;
        d = 1.0 / d;
        const double step = c * d;
        h *= step;
        if (fabs(step - 1.0) < 1e-16) break;
    }
    const double above = density * a * h;
    return upper ? above : 1.0 - above;
}
"""

BETA = r"""
// DLMF 5.12.1
__device__ inline double trilane_sign_of_gamma(double x) {
    if (x >= 0.0) return 1.0;
    const double below = floor(x);
    if (x == below) return 0.0;
    return fmod(below, 2.0) == 0.0 ? 1.0 : -1.0;
}
__device__ inline double trilane_betaln(double a, double b) {
    if (a == 0.0 && b == 0.0) return 1.0 / 0.0;
    return lgamma(a) + lgamma(b) - lgamma(a + b);
}
__device__ inline double trilane_beta(double a, double b) {
    if (a == 0.0 && b == 0.0) return 1.0 / 0.0;
    if (fabs(a) < 80.0 && fabs(b) < 80.0) return tgamma(a) / tgamma(a + b) * tgamma(b);
    const double sign = trilane_sign_of_gamma(a) * trilane_sign_of_gamma(b) *
                        trilane_sign_of_gamma(a + b);
    return sign * exp(trilane_betaln(a, b));
}
// DLMF 5.2.5
__device__ inline double trilane_poch(double a, double m) {
    if (m == 0.0) return 1.0;
    if (fabs(a) < 80.0 && fabs(m) < 80.0 && a > 0.0 && a + m > 0.0) {
        return tgamma(a + m) / tgamma(a);
    }
    if (m > 0.0 && m == floor(m) && m < 500.0) {
        double r = 1.0;
        for (int k = 0; k < m; ++k) r *= a + k;
        return r;
    }
    return trilane_sign_of_gamma(a) * trilane_sign_of_gamma(a + m) * exp(lgamma(a + m) - lgamma(a));
}
"""

BESSEL_I = r"""
// e^-|x| I(x) of order 0 (mu = 0) or 1 (mu = 4): DLMF 10.40.1 where it reaches full precision.
__device__ inline double trilane_scaled_bessel_i(double x, int order) {
    const double a = fabs(x), mu = order == 0 ? 0.0 : 4.0;
    double value;
    if (a < 40.0) {
        value = exp(-a) * (order == 0 ? cyl_bessel_i0(a) : cyl_bessel_i1(a));
    } else {
        double term = 1.0;
        value = 1.0;
        for (int k = 1; k < 25; ++k) {
            const double odd = 2 * k - 1;
            term *= -(mu - odd * odd) / (k * 8.0 * a);
            value += term;
        }
        value /= sqrt(6.283185307179586477 * a);
    }
    return order == 1 && x < 0.0 ? -value : value;
}
"""

ELLIPTIC = r"""
// The complete integral of 1 - p by the mean of Gauss, DLMF 19.8.5.
__device__ inline double trilane_ellipkm1(double p) {
    if (p < 0.0 || p != p) return 0.0 / 0.0;
    if (p == 0.0) return 1.0 / 0.0;
    if (isinf(p)) return 0.0;
    double a = 1.0, g = sqrt(p);
    for (int k = 0; k < 40 && fabs(a - g) > 1e-16 * a; ++k) {
        const double mean = 0.5 * (a + g);
        g = sqrt(a * g);
        a = mean;
    }
    return 1.57079632679489661923 / a;
}
"""
