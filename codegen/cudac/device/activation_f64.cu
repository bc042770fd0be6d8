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

// gelu_f64 is x·Φ(x), with Φ(−a) = ½·erfc(a/√2), within 4 ulps; −∞ gives NaN.
// For a > 0.7 a·Φ(−a)·e^(a²/2) is smooth in t = (a−3)/(a+3): the minimax polynomial
// of degree 23 for a ≤ 39 is 2⁻⁵⁴ off. The exponential takes what rounding a²
// loses and its power of two is multiplied last.
__device__ __forceinline__ double gelu_f64(double x) {
  double a = fabs(x);
  if (a > 39.0) return x < 0.0 ? x * 0.0 : x;
  if (!(a > 0.7)) return x * __fma_rn(0.5, erf_near_f64(x * 0x1.6a09e667f3bcdp-1), 0.5);
  double t = (a - 3.0) / (a + 3.0), g = -0x1.7ae67cf050607p-26;
  g = __fma_rn(g, t, 0x1.5139532e708fbp-25);
  g = __fma_rn(g, t, 0x1.3a21f79817aabp-26);
  g = __fma_rn(g, t, 0x1.228c86087bcaep-25);
  g = __fma_rn(g, t, -0x1.ddff4df3dcde5p-28);
  g = __fma_rn(g, t, -0x1.e32fca0bcfbedp-22);
  g = __fma_rn(g, t, -0x1.a2b795efeea92p-22);
  g = __fma_rn(g, t, 0x1.3b426c8535943p-20);
  g = __fma_rn(g, t, 0x1.91ee24e881befp-19);
  g = __fma_rn(g, t, 0x1.1f6b6f8b77887p-25);
  g = __fma_rn(g, t, -0x1.968fc04f31056p-17);
  g = __fma_rn(g, t, -0x1.1c81edc967debp-16);
  g = __fma_rn(g, t, 0x1.1306788a672f0p-15);
  g = __fma_rn(g, t, 0x1.e91000fd80d7bp-14);
  g = __fma_rn(g, t, -0x1.ac946498d306fp-15);
  g = __fma_rn(g, t, -0x1.556ad1692d7a7p-11);
  g = __fma_rn(g, t, -0x1.31f47597b7b1ep-17);
  g = __fma_rn(g, t, 0x1.0626a798a4d5cp-8);
  g = __fma_rn(g, t, -0x1.c97936fe59169p-10);
  g = __fma_rn(g, t, -0x1.d8e3f85f65d9ep-6);
  g = __fma_rn(g, t, 0x1.764817ebf070bp-4);
  g = __fma_rn(g, t, -0x1.1e048ed16793dp-3);
  g = __fma_rn(g, t, 0x1.c20d2f0038053p-4);
  g = __fma_rn(g, t, 0x1.754a751a56f4ap-2);
  dd s = two_product(a, a);
  int n;
  dd e = expm1_split_f64(-0.5 * s.hi, -0.5 * s.lo, &n);
  double tail = scale_f64(__fma_rn(g, e.hi + e.lo, g), n);
  return x > 0.0 ? x - tail : -tail;
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
