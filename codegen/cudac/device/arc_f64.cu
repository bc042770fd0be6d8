// atan_quotient_f64 is the arc tangent of y/x for finite positive y and x, one of
// which may be 0, within 1 ulp: a quotient above 1 is inverted and one above
// tan π/8 turned by π/4, which leads to |b| ≤ tan π/8, where (atan b − b)/b³ is
// the minimax polynomial in b² of degree 11: 2⁻⁶³.
__device__ __forceinline__ double atan_quotient_f64(dd y, dd x) {
  bool steep = y.hi > x.hi;
  dd num = steep ? x : y, den = steep ? y : x;
  bool wide = num.hi > 0x1.a827999fcef32p-2 * den.hi;
  dd b = wide ? dd_div(dd_sub(num, den), dd_add(num, den)) : dd_div(num, den);
  double s = b.hi * b.hi, q = 0x1.e8fe1075aa1b7p-7;
  q = __fma_rn(q, s, -0x1.1000c6e3ed1b8p-5);
  q = __fma_rn(q, s, 0x1.6ff772bca286bp-5);
  q = __fma_rn(q, s, -0x1.ab40717db7e2ep-5);
  q = __fma_rn(q, s, 0x1.e1686a34710b4p-5);
  q = __fma_rn(q, s, -0x1.110bf41801279p-4);
  q = __fma_rn(q, s, 0x1.3b13657e05608p-4);
  q = __fma_rn(q, s, -0x1.745d14560a8a2p-4);
  q = __fma_rn(q, s, 0x1.c71c71b47c3a8p-4);
  q = __fma_rn(q, s, -0x1.249249246f90dp-3);
  q = __fma_rn(q, s, 0x1.9999999999588p-3);
  q = __fma_rn(q, s, -0x1.5555555555554p-2);
  dd r = fast_sum(b.hi, __fma_rn(q * s, b.hi, b.lo));
  if (wide) r = dd_add({0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}, r);
  if (steep) r = dd_sub({0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, r);
  return r.hi + r.lo;
}

// atan_f64 is within 1 ulp.
__device__ __forceinline__ double atan_f64(double x) {
  double a = fabs(x);
  double y = atan_quotient_f64({a, 0.0}, {1.0, 0.0});
  return copysign_f64(a < 0x1p60 ? y : a != a ? a : 0x1.921fb54442d18p+0, x);
}

// cosine_of_sine is √(1−x²).
__device__ __forceinline__ dd cosine_of_sine(double x) { return dd_sqrt(dd_sub({1.0, 0.0}, two_product(x, x))); }

// asin_f64 is the angle whose tangent is x/√(1−x²), within 2 ulps.
__device__ __forceinline__ double asin_f64(double x) {
  double a = fabs(x);
  if (a == 1.0) return copysign_f64(0x1.921fb54442d18p+0, x);
  if (x == 0.0) return x;
  return a < 1.0 ? copysign_f64(atan_quotient_f64({a, 0.0}, cosine_of_sine(a)), x) : nan_f64();
}

// acos_f64 is the angle whose tangent is √(1−x²)/x, within 2 ulps.
__device__ __forceinline__ double acos_f64(double x) {
  double a = fabs(x), y;
  if (a < 0.5) return 0x1.921fb54442d18p+0 - (asin_f64(x) - 0x1.1a62633145c07p-54);
  y = a == 1.0 ? 0.0 : a < 1.0 ? atan_quotient_f64(cosine_of_sine(a), {a, 0.0}) : nan_f64();
  return x < 0.0 ? 0x1.921fb54442d18p+1 - (y - 0x1.1a62633145c07p-53) : y;
}

// atan2_f64 is the angle of the point (x, y), within 4 ulps.
__device__ __forceinline__ double atan2_f64(double y, double x) {
  if (x != x || y != y) return nan_f64();
  double b = fabs(y), a = fabs(x), z;
  if (b == a || is_inf_f64(x) || is_inf_f64(y)) {
    z = b == 0.0 || b < a ? 0.0 : b == a ? 0x1.921fb54442d18p-1 : 0x1.921fb54442d18p+0;
  } else {
    double scale = fmax(a, b) > 0x1p1000 ? 0x1p-60 : fmax(a, b) < 0x1p-900 ? 0x1p120 : 1.0;
    z = atan_quotient_f64({b * scale, 0.0}, {a * scale, 0.0});
  }
  if (__double_as_longlong(x) < 0) z = 0x1.921fb54442d18p+1 - (z - 0x1.1a62633145c07p-53);
  return copysign_f64(z, y);
}

// atan_f32 is rounded once from f64.
__device__ __forceinline__ float atan_f32(float x) { return (float)atan_f64(x); }

// asin_f32 is rounded once from f64.
__device__ __forceinline__ float asin_f32(float x) { return (float)asin_f64(x); }

// acos_f32 is rounded once from f64.
__device__ __forceinline__ float acos_f32(float x) { return (float)acos_f64(x); }

// atan2_f32 is rounded once from f64.
__device__ __forceinline__ float atan2_f32(float y, float x) { return (float)atan2_f64(y, x); }
