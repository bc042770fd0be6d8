// log_split_f32 gives x > 0 as 2^k·(1+f) with 1+f in [⅔, 4/3).
__device__ __forceinline__ float log_split_f32(float x, float *k) {
  bool small = x < 0x1p-126f;
  int u = __float_as_int(small ? x * 0x1p23f : x);
  int e = (u - 0x3f2aaaab) & 0xff800000;
  *k = (float)(e >> 23) - (small ? 23.0f : 0.0f);
  return __int_as_float(u - e) - 1.0f;
}

// log1p_near_f32 is log(1+f) for |f| ≤ ⅓: f + f²·P(f) with the minimax
// polynomial of degree 8: 2⁻²⁷.
__device__ __forceinline__ float log1p_near_f32(float f) {
  float q = -0x1.07af30p-3f;
  q = __fmaf_rn(q, f, 0x1.1e7058p-3f);
  q = __fmaf_rn(q, f, -0x1.f3366ep-4f);
  q = __fmaf_rn(q, f, 0x1.1ed490p-3f);
  q = __fmaf_rn(q, f, -0x1.559c84p-3f);
  q = __fmaf_rn(q, f, 0x1.99d05cp-3f);
  q = __fmaf_rn(q, f, -0x1.fffef8p-3f);
  q = __fmaf_rn(q, f, 0x1.555506p-2f);
  q = __fmaf_rn(q, f, -0.5f);
  return __fmaf_rn(q, f * f, f);
}

// log_ends_f32 is y, the logarithm of x, or what it is where x is not positive
// and finite.
__device__ __forceinline__ float log_ends_f32(float x, float y) {
  float end = x == 0.0f ? -inf_f32() : x < 0.0f ? nan_f32() : x;
  return x > 0.0f && x < inf_f32() ? y : end;
}

// log_f32 is the natural logarithm within 1 ulp.
__device__ __forceinline__ float log_f32(float x) {
  float k;
  float f = log_split_f32(x, &k);
  return log_ends_f32(x, __fmaf_rn(k, 0x1.62e430p-1f, log1p_near_f32(f)));
}

// log2_f32 is within 1 ulp and exact for powers of two: k + f/ln 2 + f²·P(f)
// with the minimax polynomial of degree 8, 2⁻²⁷, and 1/ln 2 in two parts.
__device__ __forceinline__ float log2_f32(float x) {
  float k;
  float f = log_split_f32(x, &k);
  float q = -0x1.7ba49cp-3f;
  q = __fmaf_rn(q, f, 0x1.9cdb36p-3f);
  q = __fmaf_rn(q, f, -0x1.685b00p-3f);
  q = __fmaf_rn(q, f, 0x1.9de606p-3f);
  q = __fmaf_rn(q, f, -0x1.ecd01cp-3f);
  q = __fmaf_rn(q, f, 0x1.279d70p-2f);
  q = __fmaf_rn(q, f, -0x1.7153e2p-2f);
  q = __fmaf_rn(q, f, 0x1.ec7030p-2f);
  q = __fmaf_rn(q, f, -0x1.715476p-1f);
  float main = f * 0x1.715476p+0f;
  float rest = __fmaf_rn(f, 0x1.715476p+0f, -main);
  rest = __fmaf_rn(f, 0x1.4ae0c0p-26f, rest);
  rest = __fmaf_rn(q, f * f, rest);
  float sum = k + main;  // |k| ≥ |main| unless k is 0
  rest += main - (sum - k);
  return log_ends_f32(x, sum + rest);
}

// log1p_f32 is log(1+x) within 2 ulps: 1+x is rounded only to choose the power
// of two that is taken out.
__device__ __forceinline__ float log1p_f32(float x) {
  int e = (__float_as_int(1.0f + x) - 0x3f2aaaab) & 0xff800000;
  float scale = __int_as_float(0x40800000 - e);  // 4·2^−k
  float f = __fmaf_rn(0.25f * x, scale, __fmaf_rn(0.25f, scale, -1.0f));
  float r = log1p_near_f32(e == 0 ? x : f);
  float y = e == 0 ? r : __fmaf_rn((float)(e >> 23), 0x1.62e430p-1f, r);
  float end = x == -1.0f ? -inf_f32() : x < -1.0f ? nan_f32() : x;
  return x > -1.0f && x < inf_f32() ? y : end;
}

// pow_f32 is x^y within 1 ulp, from logarithm and exponential in f64.
__device__ __forceinline__ float pow_f32(float x, float y) {
  return (float)pow_ends_f64(x, y, exp_f64((double)y * log_f64(fabs((double)x))));
}
