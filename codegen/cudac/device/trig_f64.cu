// two_over_pi_f64 is 2/π in words of 64 bits, after one that is zero.
__device__ const unsigned long long two_over_pi_f64[21] = {
    0x0000000000000000,
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// far_quadrant_f64 is quadrant_f64 for 2⁴⁰ ≤ x < ∞ (Payne and Hanek, "Radian
// reduction for trigonometric functions", 1983). Of m·2^e·2/π only what counts
// modulo 4 is computed: the product of m with 256 bits of 2/π that start where
// that of the bit before is a multiple of 4.
__device__ __forceinline__ dd far_quadrant_f64(double x, int *quadrant) {
  unsigned long long u = __double_as_longlong(x), m = (u & 0xfffffffffffff) | 0x10000000000000;
  int at = (int)(u >> 52) - 1075 - 2 + 64, word = at >> 6, shift = at & 63;
  unsigned long long w[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    unsigned long long next = shift == 0 ? 0 : two_over_pi_f64[word + i + 1] >> (64 - shift);
    w[i] = two_over_pi_f64[word + i] << shift | next;
  }
  unsigned long long p3 = w[3] * m, h3 = __umul64hi(w[3], m);
  unsigned long long p2 = w[2] * m + h3, h2 = __umul64hi(w[2], m) + (p2 < h3);
  unsigned long long p1 = w[1] * m + h2, h1 = __umul64hi(w[1], m) + (p1 < h2);
  unsigned long long p0 = w[0] * m + h1;
  // The fraction of a right angle, in [−½, ½).
  unsigned long long f0 = p0 << 2 | p1 >> 62, f1 = p1 << 2 | p2 >> 62, f2 = p2 << 2 | p3 >> 62;
  *quadrant = (int)(p0 >> 62);
  double unit = 1.0;
  if (f0 >> 63) {
    *quadrant += 1;
    unit = -1.0;
    f0 = ~f0;
    f1 = ~f1;
    f2 = ~f2;
  }
  if (f0 == 0) {  // not more than about 62 bits cancel
    f0 = f1;
    f1 = f2;
    unit *= 0x1p-64;
  }
  int zeros = __clzll(f0);
  unsigned long long high = zeros == 0 ? f0 : f0 << zeros | f1 >> (64 - zeros);
  unit = scale_f64(unit, -zeros);
  double hi = (double)(high >> 11) * 0x1p-53 * unit;
  double lo = (double)(high << 53 >> 11 | (f1 << zeros) >> 22) * 0x1p-106 * unit;
  return dd_mul(fast_sum(hi, lo), {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54});
}

// quadrant_f64 gives n mod 4 and y with x = n·π/2 + y, |y| little above π/4, for
// finite x. Below 2⁴⁰ the multiple of π/2, in three parts, is subtracted (Cody
// and Waite); the first subtraction is exact.
__device__ __forceinline__ dd quadrant_f64(double x, int *quadrant) {
  double a = fabs(x);
  if (a < 0x1p40) {
    double n = rint(x * 0x1.45f306dc9c883p-1);
    dd r = two_product(n, 0x1.1a62633145c07p-54);
    dd y = two_sum(__fma_rn(-n, 0x1.921fb54442d18p+0, x), -r.hi);
    *quadrant = (int)(__double2ll_rz(n) & 3);
    return fast_sum(y.hi, y.lo - r.lo - n * -0x1.f1976b7ed8fbcp-110);
  }
  dd y = far_quadrant_f64(a, quadrant);
  if (x < 0.0) {
    *quadrant = -*quadrant;
    return {-y.hi, -y.lo};
  }
  return y;
}

// sin_near_f64 is the sine of y up to about π/4: Taylor's series, whose first
// neglected term is y¹⁹/19!.
__device__ __forceinline__ double sin_near_f64(dd y) {
  double s = y.hi * y.hi, q = 1.0 / 355687428096000.0;
  q = __fma_rn(q, s, -1.0 / 1307674368000.0);
  q = __fma_rn(q, s, 1.0 / 6227020800.0);
  q = __fma_rn(q, s, -1.0 / 39916800.0);
  q = __fma_rn(q, s, 1.0 / 362880.0);
  q = __fma_rn(q, s, -1.0 / 5040.0);
  q = __fma_rn(q, s, 1.0 / 120.0);
  q = __fma_rn(q, s, -1.0 / 6.0);
  return y.hi + __fma_rn(y.hi, s * q, y.lo * __fma_rn(-0.5, s, 1.0));
}

// cos_near_f64 is the cosine of y up to about π/4: Taylor's series, whose first
// neglected term is y¹⁸/18!.
__device__ __forceinline__ double cos_near_f64(dd y) {
  double s = y.hi * y.hi, q = 1.0 / 20922789888000.0;
  q = __fma_rn(q, s, -1.0 / 87178291200.0);
  q = __fma_rn(q, s, 1.0 / 479001600.0);
  q = __fma_rn(q, s, -1.0 / 3628800.0);
  q = __fma_rn(q, s, 1.0 / 40320.0);
  q = __fma_rn(q, s, -1.0 / 720.0);
  q = __fma_rn(q, s, 1.0 / 24.0);
  double half = 0.5 * s, w = 1.0 - half;
  return w + (((1.0 - w) - half) + __fma_rn(s * s, q, -y.hi * y.lo));
}

// sin_quadrant_f64 is the sine of n·π/2 + y.
__device__ __forceinline__ double sin_quadrant_f64(int n, dd y) {
  double r = n & 1 ? cos_near_f64(y) : sin_near_f64(y);
  return n & 2 ? -r : r;
}

// sin_f64 is within 2 ulps, large operands included.
__device__ __forceinline__ double sin_f64(double x) {
  if (x == 0.0) return x;
  if (!is_finite_f64(x)) return nan_f64();
  int n;
  dd y = quadrant_f64(x, &n);
  return sin_quadrant_f64(n, y);
}

// cos_f64 is within 2 ulps, large operands included.
__device__ __forceinline__ double cos_f64(double x) {
  if (!is_finite_f64(x)) return nan_f64();
  int n;
  dd y = quadrant_f64(x, &n);
  return sin_quadrant_f64(n + 1, y);
}

// tan_f64 is within 2 ulps, large operands included.
__device__ __forceinline__ double tan_f64(double x) {
  if (x == 0.0) return x;
  if (!is_finite_f64(x)) return nan_f64();
  int n;
  dd y = quadrant_f64(x, &n);
  double s = sin_near_f64(y), c = cos_near_f64(y);
  return n & 1 ? -c / s : s / c;
}

// tan_f32 is rounded once from f64.
__device__ __forceinline__ float tan_f32(float x) { return (float)tan_f64(x); }
