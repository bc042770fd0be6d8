// sigmoid_f32 is 1/(1 + e^−x), for negative x as e^x/(1 + e^x), within 4 ulps.
__device__ __forceinline__ float sigmoid_f32(float x) {
  float e = exp_f32(-fabsf(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// silu_f32 is x·sigmoid(x) within 4 ulps; −∞ gives NaN. Far out the power of two
// of e^x is multiplied last, so that only the result may be subnormal.
__device__ __forceinline__ float silu_f32(float x) {
  int n;
  float p = exp_split_f32(-fabsf(x), &n);
  float whole = 1.0f + scale_f32(p, max(n, -200));
  float y = x < 0.0f ? scale_f32(x * p / whole, max(n, -200)) : x / whole;
  return fabsf(x) > 120.0f ? (x < 0.0f ? x * 0.0f : x) : y;
}

// gelu_f32 is x·Φ(x), with Φ(−a) = ½·erfc(a/√2), within 4 ulps; −∞ gives NaN.
// For a ≤ 1 Φ is ½ + x·P(x²), of degree 5, 2⁻²⁸ off. Beyond, a·Φ(−a)·e^(a²/2) is
// smooth in t = (a−2)/(a+2): the minimax polynomial of degree 8 for a ≤ 14.5 is
// 2⁻²⁵ off; the rounding error of a² goes into the exponential, whose power of two
// is multiplied last.
__device__ __forceinline__ float gelu_f32(float x) {
  float a = fabsf(x), s = a * a;
  float q = -0x1.12067ap-17f;
  q = __fmaf_rn(q, s, 0x1.e26598p-14f);
  q = __fmaf_rn(q, s, -0x1.376e60p-10f);
  q = __fmaf_rn(q, s, 0x1.46d556p-7f);
  q = __fmaf_rn(q, s, -0x1.105862p-4f);
  q = __fmaf_rn(q, s, 0x1.988454p-2f);
  float near = x * __fmaf_rn(q, x, 0.5f);
  float t = __fmaf_rn(-4.0f, 1.0f / (a + 2.0f), 1.0f);
  float g = 0x1.5ce544p-10f;
  g = __fmaf_rn(g, t, -0x1.7319a0p-11f);
  g = __fmaf_rn(g, t, -0x1.1eb9eap-8f);
  g = __fmaf_rn(g, t, -0x1.d3b516p-9f);
  g = __fmaf_rn(g, t, 0x1.28cff6p-6f);
  g = __fmaf_rn(g, t, 0x1.0c5898p-5f);
  g = __fmaf_rn(g, t, -0x1.35de36p-3f);
  g = __fmaf_rn(g, t, 0x1.5d3008p-3f);
  g = __fmaf_rn(g, t, 0x1.5845dcp-2f);
  int n;
  float e = expm1_split_f32(-0.5f * s, &n);
  e = __fmaf_rn(-0.5f * __fmaf_rn(a, a, -s), 1.0f + e, e);
  float tail = scale_f32(__fmaf_rn(g, e, g), max(n, -200));
  float y = x > 0.0f ? x - tail : -tail;
  y = a > 14.5f ? (x < 0.0f ? x * 0.0f : x) : y;
  return a <= 1.0f ? near : y;
}

// gelutanh_f32 is ½·x·(1 + tanh u), u = √(2/π)·(x + 0.044715·x³), as x times the
// sigmoid of 2u, within 4 ulps; −∞ gives NaN. 2u is taken in two parts, since far
// out its error is multiplied.
__device__ __forceinline__ float gelutanh_f32(float x) {
  float a = fabsf(x), s = a * a;
  float cubic = 0x1.2444f2p-4f * s;  // 2u/a = 1.5957691 + 0.07135481·a²
  float rest = __fmaf_rn(0x1.2444f2p-4f, s, -cubic);
  rest = __fmaf_rn(0x1.2444f2p-4f, __fmaf_rn(a, a, -s), rest);
  rest = __fmaf_rn(0x1.49b16ap-29f, s, rest);
  float v = 0x1.988454p+0f + cubic;
  float b = v - 0x1.988454p+0f;
  rest += (0x1.988454p+0f - (v - b)) + (cubic - b);
  rest += -0x1.857936p-25f;
  float w = v * a;
  rest = __fmaf_rn(rest, a, __fmaf_rn(v, a, -w));
  int n;
  float p = exp_split_f32(-w, &n);
  p = __fmaf_rn(p, -rest, p);
  float whole = 1.0f + scale_f32(p, max(n, -200));
  float y = x < 0.0f ? scale_f32(x * p / whole, max(n, -200)) : x / whole;
  return a > 12.0f ? (x < 0.0f ? x * 0.0f : x) : y;
}

// softplus_f32 is log(1 + e^x), as max(x, 0) + log(1 + e^−|x|), within 4 ulps.
__device__ __forceinline__ float softplus_f32(float x) {
  return (x > 0.0f ? x : 0.0f) + log1p_f32(exp_f32(-fabsf(x)));
}

// erf_f32 is within 2 ulps: below 0.93 x + x·E(x²), then 1 − e^Q(|x|), with
// minimax polynomials of degrees 5, 2⁻²⁵, and 7, 2⁻³⁴.
__device__ __forceinline__ float erf_f32(float x) {
  float a = fabsf(x), s = a * a;
  float e = -0x1.3989d8p-11f;
  e = __fmaf_rn(e, s, 0x1.4723f2p-8f);
  e = __fmaf_rn(e, s, -0x1.b689b6p-6f);
  e = __fmaf_rn(e, s, 0x1.ce1a88p-4f);
  e = __fmaf_rn(e, s, -0x1.8126e8p-2f);
  e = __fmaf_rn(e, s, 0x1.06eba6p-3f);
  float q = -0x1.5ef398p-16f;
  q = __fmaf_rn(q, a, 0x1.c568d8p-12f);
  q = __fmaf_rn(q, a, -0x1.10b268p-8f);
  q = __fmaf_rn(q, a, 0x1.9b1ee6p-6f);
  q = __fmaf_rn(q, a, -0x1.bb587ap-4f);
  q = __fmaf_rn(q, a, -0x1.444b02p-1f);
  q = __fmaf_rn(q, a, -0x1.2126a8p+0f);
  q = __fmaf_rn(q, a, 0x1.6615ecp-13f);
  float far = a > 4.0f ? 1.0f : 1.0f - exp_f32(q);
  return copysign_f32(a >= 0.93f ? far : __fmaf_rn(e, a, a), x);
}
