// sigmoid_f64 is 1/(1 + e^−x), for negative x as e^x/(1 + e^x), within 4 ulps.
__device__ __forceinline__ double sigmoid_f64(double x) {
  double e = exp_f64(-fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

// silu_f64 is x·sigmoid(x) within 4 ulps; −∞ gives NaN. Far out the power of two
// of e^x is multiplied last, so that only the result may be subnormal.
__device__ __forceinline__ double silu_f64(double x) {
  int n;
  double p = exp_split_f64(-fabs(x), 0.0, &n);
  double whole = 1.0 + scale_f64(p, max(n, -2000));
  double y = x < 0.0 ? scale_f64(x * p / whole, max(n, -2000)) : x / whole;
  return fabs(x) > 800.0 ? (x < 0.0 ? x * 0.0 : x) : y;
}

// gelu_f64 is x·½·erfc(−x/√2) within 4 ulps; −∞ gives NaN. The exponential takes
// what rounding x² loses and its power of two is multiplied last.
__device__ __forceinline__ double gelu_f64(double x) {
  double a = fabs(x), z = a * 0x1.6a09e667f3bcdp-1;
  if (a > 39.0) return x < 0.0 ? x * 0.0 : x;
  if (!(z >= 0.5)) return x * __fma_rn(copysign_f64(0.5, x), erf_near_f64(z), 0.5);
  dd s = two_product(a, a);
  int n;
  double p = exp_split_f64(-0.5 * s.hi, -0.5 * s.lo, &n);
  double tail = 0.5 * p * erfcx_f64(z);
  return x > 0.0 ? __fma_rn(-x, scale_f64(tail, n), x) : scale_f64(x * tail, n);
}

// gelutanh_f64 is ½·x·(1 + tanh u), u = √(2/π)·(x + 0.044715·x³), as x times the
// sigmoid of 2u, within 4 ulps; −∞ gives NaN. 2u is taken in the precision of dd,
// since far out its error is multiplied.
__device__ __forceinline__ double gelutanh_f64(double x) {
  double a = fabs(x);
  if (a > 23.0) return x < 0.0 ? x * 0.0 : x;
  dd linear = {0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54};  // 2√(2/π)
  dd cubic = {0x1.2444f2a4d8b4bp-4, -0x1.3023b0e5fbc6ep-58};   // 0.044715 of it
  dd u = dd_scale(dd_add(linear, dd_mul(cubic, two_product(a, a))), -a);
  int n;
  double p = exp_split_f64(u.hi, u.lo, &n);
  double whole = 1.0 + scale_f64(p, n);
  return x < 0.0 ? scale_f64(x * p / whole, n) : x / whole;
}

// softplus_f64 is log(1 + e^x), as max(x, 0) + log(1 + e^−|x|), within 4 ulps.
__device__ __forceinline__ double softplus_f64(double x) {
  return (x > 0.0 ? x : 0.0) + log1p_f64(exp_f64(-fabs(x)));
}
