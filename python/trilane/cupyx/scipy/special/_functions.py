"""The functions: one row each."""

from __future__ import annotations

from trilane.cupyx.scipy.special import _texts
from trilane.cupyx.scipy.special._ufunc import SpecialFunction as _Function

# --- gamma and what belongs to it
gamma = _Function(
    "gamma", "x", "x == 0 ? copysign(T(1) / T(0), x) : tgamma(x)", "Euler's gamma function."
)
gammaln = _Function("gammaln", "x", "lgamma(x)", "Logarithm of the magnitude of gamma.")
rgamma = _Function(
    "rgamma", "x", "x <= 0 && x == floor(x) ? T(0) : T(1) / tgamma(x)", "1 / gamma(x)."
)
gammasgn = _Function(
    "gammasgn", "x", "x != x ? x : (T)trilane_sign_of_gamma(x)",
    "Sign of gamma; 0 at its poles.", _texts.BETA,
)  # fmt: skip
psi = _Function(
    "psi", "x", "trilane_digamma((double)x)", "Derivative of log(gamma).", _texts.DIGAMMA
)
digamma = psi
zeta = _Function(
    "zeta", "x q", "trilane_zeta((double)x, (double)q)",
    "Hurwitz's function, the sum of (k + q) ** -x; of Riemann for q = 1. NaN for x < 1.", _texts.ZETA, {"q": 1},
)  # fmt: skip
polygamma = _Function(
    "polygamma", "order x", "trilane_polygamma((double)order, (double)x)",
    "Derivative of digamma of an order.", _texts.POLYGAMMA,
)  # fmt: skip
gammainc = _Function(
    "gammainc", "a x", "trilane_gammainc((double)a, (double)x, false)",
    "Regularised lower incomplete gamma function.", _texts.GAMMAINC,
)  # fmt: skip
gammaincc = _Function(
    "gammaincc", "a x", "trilane_gammainc((double)a, (double)x, true)",
    "Regularised upper incomplete gamma function.", _texts.GAMMAINC,
)  # fmt: skip
beta = _Function(
    "beta", "a b", "trilane_beta((double)a, (double)b)", "gamma(a) gamma(b) / gamma(a + b).",
    _texts.BETA,
)  # fmt: skip
betaln = _Function(
    "betaln", "a b", "trilane_betaln((double)a, (double)b)", "Logarithm of the magnitude of beta.",
    _texts.BETA,
)  # fmt: skip
poch = _Function(
    "poch", "z m", "trilane_poch((double)z, (double)m)", "gamma(z + m) / gamma(z).", _texts.BETA
)

# --- the error function and the normal distribution
erf = _Function("erf", "x", "erf(x)", "Error function.")
erfc = _Function("erfc", "x", "erfc(x)", "1 - erf(x).")
erfcx = _Function("erfcx", "x", "erfcx(x)", "exp(x**2) * erfc(x).")
erfinv = _Function("erfinv", "y", "erfinv(y)", "Inverse of erf.")
erfcinv = _Function("erfcinv", "y", "erfcinv(y)", "Inverse of erfc.")
ndtr = _Function("ndtr", "x", "normcdf(x)", "Distribution function of the normal distribution.")
ndtri = _Function("ndtri", "y", "normcdfinv(y)", "Inverse of ndtr.")
log_ndtr = _Function(
    "log_ndtr", "x",
    "x > -1 ? log1p(-0.5 * erfc(x * 0.70710678118654752440)) : "
    "-0.5 * (double)x * x + log(0.5 * erfcx(-(double)x * 0.70710678118654752440))",
    "Logarithm of ndtr.",
)  # fmt: skip

# --- Bessel functions
j0 = _Function("j0", "x", "j0(x)", "Bessel function of the first kind of order 0.")
j1 = _Function("j1", "x", "j1(x)", "Bessel function of the first kind of order 1.")
y0 = _Function("y0", "x", "y0(x)", "Bessel function of the second kind of order 0.")
y1 = _Function("y1", "x", "y1(x)", "Bessel function of the second kind of order 1.")
i0 = _Function("i0", "x", "cyl_bessel_i0(x)", "Modified Bessel function of order 0.")
i1 = _Function("i1", "x", "cyl_bessel_i1(x)", "Modified Bessel function of order 1.")
i0e = _Function(
    "i0e", "x", "trilane_scaled_bessel_i(x, 0)", "exp(-abs(x)) * i0(x).", _texts.BESSEL_I
)
i1e = _Function(
    "i1e", "x", "trilane_scaled_bessel_i(x, 1)", "exp(-abs(x)) * i1(x).", _texts.BESSEL_I
)
ellipkm1 = _Function(
    "ellipkm1", "p", "trilane_ellipkm1((double)p)",
    "Complete elliptic integral of the first kind of 1 - p.", _texts.ELLIPTIC,
)  # fmt: skip
ellipk = _Function(
    "ellipk", "m", "trilane_ellipkm1(1.0 - (double)m)",
    "Complete elliptic integral of the first kind.", _texts.ELLIPTIC,
)  # fmt: skip

# --- exponentials and logarithms
exp10 = _Function("exp10", "x", "exp10(x)", "10 ** x.")
exp2 = _Function("exp2", "x", "exp2(x)", "2 ** x.")
expm1 = _Function("expm1", "x", "expm1(x)", "exp(x) - 1.")
log1p = _Function("log1p", "x", "log1p(x)", "log(1 + x).")
cbrt = _Function("cbrt", "x", "cbrt(x)", "Cube root.")
cosm1 = _Function("cosm1", "x", "-2 * sin(x / 2) * sin(x / 2)", "cos(x) - 1.")
exprel = _Function(
    "exprel", "x", "x == 0 ? T(1) : isinf(x) && x > 0 ? x : expm1(x) / x", "(exp(x) - 1) / x."
)
expit = _Function("expit", "x", "T(1) / (T(1) + exp(-x))", "Logistic function 1 / (1 + exp(-x)).")
log_expit = _Function(
    "log_expit", "x", "x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x))", "Logarithm of expit."
)
logit = _Function(
    "logit", "x",
    "x > T(0.3) && x < T(0.65) ? log1p(2 * (x - T(0.5))) - log1p(-2 * (x - T(0.5))) "
    ": log(x / (T(1) - x))",
    "log(x / (1 - x)).",
)  # fmt: skip
xlogy = _Function(
    "xlogy", "x y", "x == 0 && y == y ? T(0) : x * log(y)", "x * log(y), 0 for x = 0."
)
xlog1py = _Function(
    "xlog1py", "x y", "x == 0 && y == y ? T(0) : x * log1p(y)", "x * log1p(y), 0 for x = 0."
)
entr = _Function(
    "entr", "x", "x > 0 ? -x * log(x) : x == 0 ? T(0) : x != x ? x : -T(1) / T(0)",
    "-x * log(x), 0 for x = 0, -inf below.",
)  # fmt: skip
rel_entr = _Function(
    "rel_entr", "x y",
    "x != x || y != y ? x + y : x > 0 && y > 0 ? x * log(x / y) : "
    "x == 0 && y >= 0 ? T(0) : T(1) / T(0)",
    "x * log(x / y), 0 for x = 0 <= y, inf outside.",
)  # fmt: skip
kl_div = _Function(
    "kl_div", "x y",
    "x != x || y != y ? x + y : x > 0 && y > 0 ? x * log(x / y) - x + y : "
    "x == 0 && y >= 0 ? y : T(1) / T(0)",
    "x * log(x / y) - x + y, y for x = 0 <= y, inf outside.",
)  # fmt: skip
boxcox = _Function(
    "boxcox", "x lmbda", "fabs(lmbda) < T(1e-19) ? log(x) : expm1(lmbda * log(x)) / lmbda",
    "(x ** lmbda - 1) / lmbda, log(x) for lmbda = 0.",
)  # fmt: skip
boxcox1p = _Function(
    "boxcox1p", "x lmbda", "fabs(lmbda) < T(1e-19) ? log1p(x) : expm1(lmbda * log1p(x)) / lmbda",
    "boxcox(1 + x, lmbda).",
)  # fmt: skip
inv_boxcox = _Function(
    "inv_boxcox", "x lmbda", "lmbda == 0 ? exp(x) : exp(log1p(lmbda * x) / lmbda)",
    "Inverse of boxcox.",
)  # fmt: skip
inv_boxcox1p = _Function(
    "inv_boxcox1p", "x lmbda", "lmbda == 0 ? expm1(x) : expm1(log1p(lmbda * x) / lmbda)",
    "Inverse of boxcox1p.",
)  # fmt: skip
huber = _Function(
    "huber", "delta r",
    "delta < 0 ? T(1) / T(0) : fabs(r) <= delta ? T(0.5) * r * r : delta * (fabs(r) - T(0.5) * delta)",
    "Huber's loss.",
)  # fmt: skip
pseudo_huber = _Function(
    "pseudo_huber", "delta r",
    "delta < 0 ? T(1) / T(0) : delta == 0 || r == 0 ? T(0) : "
    "r * r / (T(1) + sqrt(T(1) + (r / delta) * (r / delta)))",
    "The smooth form of Huber's loss.",
)  # fmt: skip

# --- distributions by the incomplete gamma function
chdtr = _Function(
    "chdtr", "v x", "x < 0 ? 0.0 : trilane_gammainc(0.5 * v, 0.5 * x, false)",
    "Distribution function of chi square with v degrees of freedom.", _texts.GAMMAINC,
)  # fmt: skip
chdtrc = _Function(
    "chdtrc", "v x", "x < 0 ? 1.0 : trilane_gammainc(0.5 * v, 0.5 * x, true)",
    "1 - chdtr(v, x).", _texts.GAMMAINC,
)  # fmt: skip
gdtr = _Function(
    "gdtr", "a b x", "x < 0 ? 0.0 / 0.0 : trilane_gammainc(b, (double)a * x, false)",
    "Distribution function of the gamma distribution.", _texts.GAMMAINC,
)  # fmt: skip
gdtrc = _Function(
    "gdtrc", "a b x", "x < 0 ? 0.0 / 0.0 : trilane_gammainc(b, (double)a * x, true)",
    "1 - gdtr(a, b, x).", _texts.GAMMAINC,
)  # fmt: skip
pdtr = _Function(
    "pdtr", "k m",
    "k < 0 || m < 0 ? 0.0 / 0.0 : m == 0 ? 1.0 : trilane_gammainc(floor((double)k) + 1.0, m, true)",
    "Distribution function of Poisson's distribution of mean m.", _texts.GAMMAINC,
)  # fmt: skip
pdtrc = _Function(
    "pdtrc", "k m",
    "k < 0 || m < 0 ? 0.0 / 0.0 : m == 0 ? 0.0 : trilane_gammainc(floor((double)k) + 1.0, m, false)",
    "1 - pdtr(k, m).", _texts.GAMMAINC,
)  # fmt: skip
