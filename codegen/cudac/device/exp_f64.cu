// expm1_split_f64 gives n = round(x/ln 2) and e^r − 1, in two parts, for the rest
// r = x + low − n·ln 2, |r| ≤ ln2/2 (Cody and Waite; the first step is exact).
// The polynomial (e^r−1−r)/r² is the minimax one of degree 9: 2⁻⁵⁵.
__device__ __forceinline__ dd expm1_split_f64(double x, double low, int *n) {
  double shifted = __fma_rn(x, 0x1.71547652b82fep+0, 0x1.8p52);  // the low bits hold n
  double k = shifted - 0x1.8p52;
  double main = __fma_rn(k, -0x1.62e42fefa39efp-1, x);
  dd r = two_sum(main, __fma_rn(k, -0x1.abc9e3b39803fp-56, low));
  double q = 0x1.af76b0353d985p-26;
  q = __fma_rn(q, r.hi, 0x1.28a551e4f3c43p-22);
  q = __fma_rn(q, r.hi, 0x1.71ddea406c05cp-19);
  q = __fma_rn(q, r.hi, 0x1.a019a42c92ad9p-16);
  q = __fma_rn(q, r.hi, 0x1.a01a01b5a0af1p-13);
  q = __fma_rn(q, r.hi, 0x1.6c16c17fdb084p-10);
  q = __fma_rn(q, r.hi, 0x1.111111110e7cdp-7);
  q = __fma_rn(q, r.hi, 0x1.5555555551f4dp-5);
  q = __fma_rn(q, r.hi, 0x1.555555555555cp-3);
  q = __fma_rn(q, r.hi, 0x1.0000000000005p-1);
  *n = (int)__double_as_longlong(shifted);
  return {r.hi, __fma_rn(q, r.hi * r.hi, r.lo)};
}

// exp_split_f64 gives e^(x + low) as p·2^n for |x| < 2³⁰.
__device__ __forceinline__ double exp_split_f64(double x, double low, int *n) {
  dd p = expm1_split_f64(x, low, n);
  dd s = fast_sum(1.0, p.hi);
  return s.hi + (s.lo + p.lo);
}

// exp_dd is e^x within 1 ulp.
__device__ __forceinline__ double exp_dd(dd x) {
  int n;
  double p = exp_split_f64(x.hi, x.lo, &n);
  double y = scale_f64(p, n);
  y = x.hi > 710.0 ? inf_f64() : y;
  return x.hi < -746.0 ? 0.0 : y;
}

// exp_f64 is e^x within 1 ulp.
__device__ __forceinline__ double exp_f64(double x) { return exp_dd({x, 0.0}); }

// exp2_f64 is 2^x within 1 ulp, exact for integers.
__device__ __forceinline__ double exp2_f64(double x) {
  double whole = rint(x);
  dd r = dd_scale({0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}, x - whole);
  double y = scale_f64(exp_dd(r), (int)__double_as_longlong(whole + 0x1.8p52));
  y = x > 1100.0 ? inf_f64() : y;
  return x < -1100.0 ? 0.0 : y;
}

// expm1_f64 is e^x − 1 within 2 ulps: with x = n·ln 2 + r as 2^n·(e^r − 1) +
// (2^n − 1).
__device__ __forceinline__ double expm1_f64(double x) {
  int n;
  dd r = expm1_split_f64(x, 0.0, &n);
  double p = r.hi + r.lo;
  double t = __longlong_as_double((long long)(n + 1022) << 52);  // 2^(n−1), finite for n = 1024
  double y = n == 0 ? p : 2.0 * __fma_rn(p, t, t - 0.5);
  y = x > 710.0 ? inf_f64() : y;
  y = x < -50.0 ? -1.0 : y;
  return x == 0.0 ? x : y;
}

// half_exp_f64 is e^x/2, which is finite where e^x no longer is, for 0 ≤ x < 711.
__device__ __forceinline__ double half_exp_f64(double x) {
  int n;
  double p = exp_split_f64(x, 0.0, &n);
  return scale_f64(p, n - 1);
}

// sinh_f64 is (e^|x| − e^−|x|)/2 with the sign of x, below 1, where that cancels,
// Taylor's series to x¹⁷/17!, within 2 ulps.
__device__ __forceinline__ double sinh_f64(double x) {
  double a = fabs(x), y;
  if (a < 1.0) {
    double s = a * a, p = 1.0 / 355687428096000.0;
    p = __fma_rn(p, s, 1.0 / 1307674368000.0);
    p = __fma_rn(p, s, 1.0 / 6227020800.0);
    p = __fma_rn(p, s, 1.0 / 39916800.0);
    p = __fma_rn(p, s, 1.0 / 362880.0);
    p = __fma_rn(p, s, 1.0 / 5040.0);
    p = __fma_rn(p, s, 1.0 / 120.0);
    p = __fma_rn(p, s, 1.0 / 6.0);
    y = __fma_rn(p * s, a, a);
  } else {
    double half = half_exp_f64(a);
    y = a < 711.0 ? half - 0.25 / half : a * inf_f64();
  }
  return copysign_f64(y, x);
}

// cosh_f64 is (e^|x| + e^−|x|)/2 within 2 ulps.
__device__ __forceinline__ double cosh_f64(double x) {
  double a = fabs(x), half = half_exp_f64(a);
  return a < 711.0 ? half + 0.25 / half : a * inf_f64();
}

// tanh_f64 is within 2 ulps: 1 − 2/(e^2|x| + 1) with the sign of x, and below
// 0.6, where that cancels, |x| + |x|³·T(x²) with the minimax polynomial of degree
// 11: 2⁻⁶².
__device__ __forceinline__ double tanh_f64(double x) {
  double a = fabs(x), y;
  if (a < 0.6) {
    double s = a * a, q = 0x1.b529504c4ad8dp-18;
    q = __fma_rn(q, s, -0x1.05bcfb17e1886p-15);
    q = __fma_rn(q, s, 0x1.8404c78d4019ep-14);
    q = __fma_rn(q, s, -0x1.f21fda39d24d0p-13);
    q = __fma_rn(q, s, 0x1.352249053d664p-11);
    q = __fma_rn(q, s, -0x1.7d9ebc1572a17p-10);
    q = __fma_rn(q, s, 0x1.d6d38a26f60f1p-9);
    q = __fma_rn(q, s, -0x1.226e33f73938fp-7);
    q = __fma_rn(q, s, 0x1.664f4879ab89ap-6);
    q = __fma_rn(q, s, -0x1.ba1ba1b9f930ap-5);
    q = __fma_rn(q, s, 0x1.1111111110f07p-3);
    q = __fma_rn(q, s, -0x1.5555555555554p-2);
    y = __fma_rn(q * s, a, a);
  } else {
    y = 1.0 - 2.0 / (exp_f64(2.0 * a) + 1.0);
  }
  return copysign_f64(y, x);
}

// sinh_f32 is rounded once from f64.
__device__ __forceinline__ float sinh_f32(float x) { return (float)sinh_f64(x); }

// cosh_f32 is rounded once from f64.
__device__ __forceinline__ float cosh_f32(float x) { return (float)cosh_f64(x); }
