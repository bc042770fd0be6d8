// sin_pi_f64 is sin πx.
__device__ __forceinline__ double sin_pi_f64(double x) {
  double whole = rint(x), f = x - whole, a = fabs(f);
  dd half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  double y = a > 0.25 ? cos_near_f64(dd_scale(half_pi, 1.0 - 2.0 * a)) : sin_near_f64(dd_scale(half_pi, 2.0 * a));
  bool odd = rint(0.5 * whole) != 0.5 * whole;
  return (f < 0.0) != odd ? -y : y;
}

// cot_pi_f64 is 1/tan πx.
__device__ __forceinline__ double cot_pi_f64(double x) {
  double f = x - rint(x), a = fabs(f);
  bool steep = a > 0.25;
  dd y = dd_scale({0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, steep ? 1.0 - 2.0 * a : 2.0 * a);
  double s = sin_near_f64(y), c = cos_near_f64(y);
  return copysign_f64(steep ? s / c : c / s, f);
}

// lgamma_positive_f64 is log Γ(x) for x > 0: by Γ(x+1) = x·Γ(x) below 20, and
// from there by Stirling's series (x−½)·log x − x + ½·log 2π + Σ
// B₂ₙ/(2n·(2n−1)·x²ⁿ⁻¹).
__device__ __forceinline__ dd lgamma_positive_f64(double x) {
  dd p = {1.0, 0.0}, y = {x, 0.0};
  while (y.hi < 20.0) {
    p = dd_mul(p, y);
    y = dd_add(y, {1.0, 0.0});
  }
  double s = 1.0 / (y.hi * y.hi), q = -691.0 / 360360;
  q = __fma_rn(q, s, 1.0 / 1188);
  q = __fma_rn(q, s, -1.0 / 1680);
  q = __fma_rn(q, s, 1.0 / 1260);
  q = __fma_rn(q, s, -1.0 / 360);
  q = __fma_rn(q, s, 1.0 / 12);
  dd log_y = dd_add(log_dd(y.hi), {y.lo / y.hi, 0.0});
  dd r = dd_sub(dd_mul(dd_add(y, {-0.5, 0.0}), log_y), y);
  r = dd_add(r, {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55});  // ½·log 2π
  return dd_sub(dd_add(r, {q / y.hi, 0.0}), log_dd(p.hi + p.lo));
}

// lgamma_f64 is log|Γ(x)| within 4 ulps, or near its zeros within some 10⁻¹⁵: by
// Γ(x)·Γ(1−x) = π/sin πx for negative x. It is infinite at both infinities, zero
// and negative integers.
__device__ __forceinline__ double lgamma_f64(double x) {
  if (x != x) return x;
  if (is_inf_f64(x) || x <= 0.0 && x == trunc(x)) return inf_f64();
  if (x == 1.0 || x == 2.0) return 0.0;
  if (x > 1e300) return x * (log_f64(x) - 1.0);
  if (fabs(x) < 0x1p-60) return -log_f64(fabs(x));
  dd y = lgamma_positive_f64(x < 0.0 ? 1.0 - x : x);
  if (x < 0.0) y = dd_sub(log_dd(0x1.921fb54442d18p+1 / fabs(sin_pi_f64(x))), y);
  return y.hi + y.lo;
}

// digamma_positive_f64 is the derivative of log Γ(x) for x > 0: by ψ(x) =
// ψ(x+1) − 1/x below 20, and from there by log x − 1/2x − Σ B₂ₙ/(2n·x²ⁿ)
// (Bernardo, "Algorithm AS 103: psi (digamma) function", 1976).
__device__ __forceinline__ dd digamma_positive_f64(double x) {
  dd sum = {0.0, 0.0}, y = {x, 0.0};
  while (y.hi < 20.0) {
    sum = dd_add(sum, dd_div({1.0, 0.0}, y));
    y = dd_add(y, {1.0, 0.0});
  }
  double s = 1.0 / (y.hi * y.hi), q = 1.0 / 132;
  q = __fma_rn(q, s, -1.0 / 240);
  q = __fma_rn(q, s, 1.0 / 252);
  q = __fma_rn(q, s, -1.0 / 120);
  q = __fma_rn(q, s, 1.0 / 12);
  dd r = dd_add(log_dd(y.hi), {y.lo / y.hi, 0.0});
  r = dd_sub(r, dd_div({0.5, 0.0}, y));
  return dd_sub(dd_sub(r, {q * s, 0.0}), sum);
}

// digamma_f64 is the derivative of log Γ(x) within 4 ulps, or near its zeros
// within some 10⁻¹⁵: by ψ(x) = ψ(1−x) − π/tan πx for negative x. At zeros it is
// infinite with the other sign, at negative integers NaN.
__device__ __forceinline__ double digamma_f64(double x) {
  if (x == 0.0) return copysign_f64(inf_f64(), -x);
  if (!(x < 0x1p60)) return log_f64(x);
  if (fabs(x) < 0x1p-1000) return -1.0 / x;
  if (x < 0.0 && x == trunc(x)) return nan_f64();
  dd y = digamma_positive_f64(x < 0.0 ? 1.0 - x : x);
  if (x < 0.0) y = dd_sub(y, {0x1.921fb54442d18p+1 * cot_pi_f64(x), 0.0});
  return y.hi + y.lo;
}

// lgamma_f32 is rounded once from f64.
__device__ __forceinline__ float lgamma_f32(float x) { return (float)lgamma_f64(x); }

// digamma_f32 is rounded once from f64.
__device__ __forceinline__ float digamma_f32(float x) { return (float)digamma_f64(x); }
