// log_split_f64 gives x > 0 as 2^k·m with m in [√½, √2).
__device__ __forceinline__ double log_split_f64(double x, int *k) {
  bool small = x < 0x1p-1022;
  long long u = __double_as_longlong(small ? x * 0x1p54 : x);
  long long e = (u - 0x3fe6a09e667f3bcd) >> 52;
  *k = (int)e - (small ? 54 : 0);
  return __longlong_as_double(u - (e << 52));
}

// log_near_f64 is k·ln 2 + log(1+f) for 1+f in [√½, √2), where
// log(1+f) = f − f²/2 + s·(f²/2 + R(s²)), s = f/(2+f), and R comes from the
// minimax polynomial of (2·atanh s − 2s)/s³ of degree 6: 2⁻⁵⁸.
__device__ __forceinline__ double log_near_f64(double f, double k) {
  double s = f / (2.0 + f), w = s * s;
  double q = 0x1.2faaff5ac52c6p-3;
  q = __fma_rn(q, w, 0x1.3991e57d4baccp-3);
  q = __fma_rn(q, w, 0x1.7466d59dd552fp-3);
  q = __fma_rn(q, w, 0x1.c71c4f4bf370dp-3);
  q = __fma_rn(q, w, 0x1.2492494524d13p-2);
  q = __fma_rn(q, w, 0x1.999999997c70cp-2);
  q = __fma_rn(q, w, 0x1.555555555559cp-1);
  double half = 0.5 * f * f;
  double rest = __fma_rn(s, __fma_rn(q, w, half), k * 0x1.ef35793c7673p-45);
  return __fma_rn(k, 0x1.62e42fefa38p-1, f - (half - rest));
}

// log_ends_f64 is y, the logarithm of x, or what it is where x is not positive
// and finite.
__device__ __forceinline__ double log_ends_f64(double x, double y) {
  double end = x == 0.0 ? -inf_f64() : x < 0.0 ? nan_f64() : x;
  return x > 0.0 && x < inf_f64() ? y : end;
}

// log_f64 is the natural logarithm within 1 ulp.
__device__ __forceinline__ double log_f64(double x) {
  int k;
  double m = log_split_f64(x, &k);
  return log_ends_f64(x, log_near_f64(m - 1.0, k));
}

// log1p_f64 is log(1+x) within 2 ulps: what rounding 1+x lost is added.
__device__ __forceinline__ double log1p_f64(double x) {
  double u = 1.0 + x;
  double lost = x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  int k;
  double m = log_split_f64(u, &k);
  double y = log_near_f64(k == 0 ? x : (m - 1.0) + lost * (m / u), k);
  double end = x == -1.0 ? -inf_f64() : x < -1.0 ? nan_f64() : x;
  y = x > -1.0 && x < inf_f64() ? y : end;
  return x == 0.0 ? x : y;
}

// log_dd is the logarithm of a finite x > 0 within a relative error of 2⁻⁶⁴.
// x = 2^k·m, and log m = 2·atanh s with s = (m−1)/(m+1): the terms s + s³/3 are
// taken in two parts, of the rest, s²ⁿ⁺¹/(2n+1), those up to s²⁷/27 in one.
__device__ __forceinline__ dd log_dd(double x) {
  int k;
  double m = log_split_f64(x, &k);
  dd s = dd_div({m - 1.0, 0.0}, two_sum(m, 1.0));
  dd w = dd_mul(s, s);
  double q = 1.0 / 27;
  q = __fma_rn(q, w.hi, 1.0 / 25);
  q = __fma_rn(q, w.hi, 1.0 / 23);
  q = __fma_rn(q, w.hi, 1.0 / 21);
  q = __fma_rn(q, w.hi, 1.0 / 19);
  q = __fma_rn(q, w.hi, 1.0 / 17);
  q = __fma_rn(q, w.hi, 1.0 / 15);
  q = __fma_rn(q, w.hi, 1.0 / 13);
  q = __fma_rn(q, w.hi, 1.0 / 11);
  q = __fma_rn(q, w.hi, 1.0 / 9);
  q = __fma_rn(q, w.hi, 1.0 / 7);
  q = __fma_rn(q, w.hi, 1.0 / 5);
  dd third = dd_add({0x1.5555555555555p-2, 0x1.5555555555555p-56}, dd_mul({q, 0.0}, w));
  dd y = dd_scale(dd_add(s, dd_mul(s, dd_mul(third, w))), 2.0);
  dd high = dd_add({k * 0x1.62e42fefa38p-1, 0.0}, two_product(k, 0x1.ef35793c7673p-45));
  return dd_add(high, y);
}

// log2_f64 is within 1 ulp and exact for powers of two.
__device__ __forceinline__ double log2_f64(double x) {
  dd y = dd_mul(log_dd(x), {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56});
  return log_ends_f64(x, y.hi + y.lo);
}

// log10_f64 is within 1 ulp and exact for powers of ten.
__device__ __forceinline__ double log10_f64(double x) {
  dd y = dd_mul(log_dd(x), {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
  return log_ends_f64(x, y.hi + y.lo);
}

// log10_f32 is rounded once from f64.
__device__ __forceinline__ float log10_f32(float x) { return (float)log10_f64(x); }

// pow_ends_f64 is x^y, given |x|^y for x and y that are finite and not zero, as
// IEEE 754 says.
__device__ __forceinline__ double pow_ends_f64(double x, double y, double magnitude) {
  if (x == 1.0 || y == 0.0) return 1.0;
  if (x != x || y != y) return nan_f64();
  double a = fabs(x), r = magnitude;
  bool whole = trunc(y) == y;
  bool odd = whole && fabs(y) < 0x1p53 && (__double2ll_rz(y) & 1);
  if (a == 0.0 || a == inf_f64()) {
    r = (a == 0.0) == (y > 0.0) ? 0.0 : inf_f64();
  } else if (is_inf_f64(y)) {
    r = a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? inf_f64() : 0.0;
  } else if (x < 0.0 && !whole) {
    return nan_f64();
  }
  return odd ? copysign_f64(r, x) : r;
}

// pow_f64 is x^y within 1 ulp, as e^(y·log|x|) in the precision of dd.
__device__ __forceinline__ double pow_f64(double x, double y) {
  dd l = log_dd(fabs(x));
  double p = l.hi * y;
  double r = p > 710.0 ? inf_f64() : p < -746.0 ? 0.0 : exp_dd(dd_scale(l, y));
  return pow_ends_f64(x, y, r);
}

// asinh_f64 is log(a + √(a²+1)) of a = |x| with the sign of x, as the log1p of
// a + a²/(1+√(a²+1)), within 4 ulps.
__device__ __forceinline__ double asinh_f64(double x) {
  double a = fabs(x), s = a * a;
  double u = a + s / (1.0 + __dsqrt_rn(s + 1.0));
  double y = a < 0x1p30 ? log1p_f64(u) : log_f64(a) + 0x1.62e42fefa39efp-1;
  return copysign_f64(y, x);
}

// acosh_f64 is log(x + √(x²−1)), as the log1p of t + √(2t+t²), t = x−1, within 4
// ulps.
__device__ __forceinline__ double acosh_f64(double x) {
  double t = x - 1.0;
  double u = t + __dsqrt_rn(__fma_rn(t, t, 2.0 * t));
  double y = x < 0x1p30 ? log1p_f64(u) : log_f64(x) + 0x1.62e42fefa39efp-1;
  return x < 1.0 ? nan_f64() : y;
}

// atanh_f64 is ½·log((1+a)/(1−a)) of a = |x| with the sign of x, as half the log1p
// of 2a/(1−a), within 4 ulps.
__device__ __forceinline__ double atanh_f64(double x) {
  double a = fabs(x);
  double y = 0.5 * log1p_f64(2.0 * a / (1.0 - a));
  return a > 1.0 ? nan_f64() : copysign_f64(y, x);
}

// asinh_f32 is rounded once from f64.
__device__ __forceinline__ float asinh_f32(float x) { return (float)asinh_f64(x); }

// acosh_f32 is rounded once from f64.
__device__ __forceinline__ float acosh_f32(float x) { return (float)acosh_f64(x); }

// atanh_f32 is rounded once from f64.
__device__ __forceinline__ float atanh_f32(float x) { return (float)atanh_f64(x); }
