// Special functions that libm lacks.
#pragma once

TRILANE_HD double sinpi(double x) {
    TRILANE_EXACT
    double turns = __builtin_rint(2.0 * x);   // half turns: exact
    double r = __builtin_fma(-0.5, turns, x);
    const double high = 0x1.921fb54442d18p+1, low = 0x1.1a62633145c07p-53;
    double t = r * high;
    double e = __builtin_fma(r, high, -t) + r * low;
    double s = __builtin_sin(t), c = __builtin_cos(t);
    double quarter = turns - 4.0 * __builtin_floor(0.25 * turns);
    double odd = quarter == 1.0 || quarter == 3.0 ? __builtin_fma(-s, e, c) : __builtin_fma(c, e, s);
    double value = quarter >= 2.0 ? -odd : odd;
    if (x == __builtin_trunc(x) && isfinite(x)) return __builtin_copysign(0.0, x);
    return isfinite(x) ? value : NAN;
}
TRILANE_HD double cospi(double x) {
    TRILANE_EXACT
    double turns = __builtin_rint(2.0 * x);
    double r = __builtin_fma(-0.5, turns, x);
    const double high = 0x1.921fb54442d18p+1, low = 0x1.1a62633145c07p-53;
    double t = r * high;
    double e = __builtin_fma(r, high, -t) + r * low;
    double s = __builtin_sin(t), c = __builtin_cos(t);
    double quarter = turns - 4.0 * __builtin_floor(0.25 * turns);
    double value = quarter == 1.0 || quarter == 3.0 ? __builtin_fma(c, e, s) : __builtin_fma(-s, e, c);
    value = quarter == 1.0 || quarter == 2.0 ? -value : value;
    if (r == 0.0 && (quarter == 1.0 || quarter == 3.0)) return 0.0;
    return isfinite(x) ? value : NAN;
}
TRILANE_HD double normcdf(double x);
TRILANE_HD double erfinv(double x);
