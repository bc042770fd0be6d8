// expm1_split_f32 gives e^x as (1 + q)·2^n for |x| < 2²⁰: n = round(x/ln 2), and
// q = e^r − 1 for the rest r = x − n·ln 2, |r| ≤ ln2/2 (Cody and Waite; the first
// step is exact). The polynomial (e^r−1−r)/r² is the minimax one of degree 4: 2⁻²⁸.
__device__ __forceinline__ float expm1_split_f32(float x, int *n) {
  float shifted = __fmaf_rn(x, 0x1.715476p+0f, 0x1.8p23f);  // the low bits hold n
  float k = shifted - 0x1.8p23f;
  float main = __fmaf_rn(k, -0x1.62e430p-1f, x), rest = k * 0x1.05c610p-29f;
  float r = main + rest;
  float q = 0x1.6d6b4ep-10f;
  q = __fmaf_rn(q, r, 0x1.1240aep-7f);
  q = __fmaf_rn(q, r, 0x1.5554cep-5f);
  q = __fmaf_rn(q, r, 0x1.555488p-3f);
  q = __fmaf_rn(q, r, 0.5f);
  *n = __float_as_int(shifted) - 0x4b400000;
  return main + __fmaf_rn(q, r * r, rest);
}

// exp_split_f32 gives e^x as p·2^n for |x| < 2²⁰.
__device__ __forceinline__ float exp_split_f32(float x, int *n) { return 1.0f + expm1_split_f32(x, n); }

// exp_f32 is e^x within 1 ulp.
__device__ __forceinline__ float exp_f32(float x) {
  int n;
  float p = exp_split_f32(x, &n);
  float y = scale_f32(p, n);
  y = x > 100.0f ? inf_f32() : y;
  return x < -110.0f ? 0.0f : y;
}

// exp2_f32 is 2^x within 1 ulp, exact for integers: 2^round(x) times 2^f with
// |f| ≤ ½, whose polynomial (2^f−1)/f is the minimax one of degree 5: 2⁻²⁸.
__device__ __forceinline__ float exp2_f32(float x) {
  float shifted = x + 0x1.8p23f;  // the low bits hold round(x)
  float f = x - (shifted - 0x1.8p23f);
  float q = 0x1.4424b0p-13f;
  q = __fmaf_rn(q, f, 0x1.5f0a6ep-10f);
  q = __fmaf_rn(q, f, 0x1.3b2a48p-7f);
  q = __fmaf_rn(q, f, 0x1.c6af78p-5f);
  q = __fmaf_rn(q, f, 0x1.ebfbe0p-3f);
  q = __fmaf_rn(q, f, 0x1.62e430p-1f);
  float y = scale_f32(__fmaf_rn(q, f, 1.0f), __float_as_int(shifted) - 0x4b400000);
  y = x > 150.0f ? inf_f32() : y;
  return x < -160.0f ? 0.0f : y;
}

// expm1_f32 is e^x − 1 within 2 ulps: with x = n·ln 2 + r as 2^n·(e^r − 1) +
// (2^n − 1), where (e^r−1−r)/r² is the minimax polynomial of degree 5: 2⁻³¹.
__device__ __forceinline__ float expm1_f32(float x) {
  float shifted = __fmaf_rn(x, 0x1.715476p+0f, 0x1.8p23f);
  float k = shifted - 0x1.8p23f;
  float r = __fmaf_rn(k, -0x1.62e430p-1f, x);
  r = __fmaf_rn(k, 0x1.05c610p-29f, r);
  float q = 0x1.a242d0p-13f;
  q = __fmaf_rn(q, r, 0x1.6d4286p-10f);
  q = __fmaf_rn(q, r, 0x1.111004p-7f);
  q = __fmaf_rn(q, r, 0x1.5554f2p-5f);
  q = __fmaf_rn(q, r, 0x1.555556p-3f);
  q = __fmaf_rn(q, r, 0.5f);
  float p = __fmaf_rn(q, r * r, r);
  int n = __float_as_int(shifted) - 0x4b400000;
  float t = __int_as_float((n + 126) << 23);  // 2^(n−1), finite for n = 128
  float y = n == 0 ? p : 2.0f * __fmaf_rn(p, t, t - 0.5f);
  y = x > 89.0f ? inf_f32() : y;
  y = x < -30.0f ? -1.0f : y;
  return x == 0.0f ? x : y;
}

// tanh_f32 is within 2 ulps: 1 − 2/(e^2|x| + 1) with the sign of x, and below
// 0.6, where that cancels, |x| + |x|³·T(x²) with the minimax polynomial of degree
// 4: 2⁻²⁸.
__device__ __forceinline__ float tanh_f32(float x) {
  float a = fabsf(x), s = a * a;
  float q = -0x1.82acc4p-8f;
  q = __fmaf_rn(q, s, 0x1.54cadep-6f);
  q = __fmaf_rn(q, s, -0x1.b89b94p-5f);
  q = __fmaf_rn(q, s, 0x1.1109c2p-3f);
  q = __fmaf_rn(q, s, -0x1.55553ep-2f);
  float near = __fmaf_rn(q * s, a, a);
  float far = 1.0f - 2.0f / (exp_f32(2.0f * a) + 1.0f);
  return copysign_f32(a < 0.6f ? near : far, x);
}
