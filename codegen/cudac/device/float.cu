// inf_f32 is +∞.
__device__ __forceinline__ float inf_f32() { return __int_as_float(0x7f800000); }

// nan_f32 is a quiet NaN.
__device__ __forceinline__ float nan_f32() { return __int_as_float(0x7fc00000); }

// inf_f64 is +∞.
__device__ __forceinline__ double inf_f64() { return __longlong_as_double(0x7ff0000000000000); }

// nan_f64 is a quiet NaN.
__device__ __forceinline__ double nan_f64() { return __longlong_as_double(0x7ff8000000000000); }

// copysign_f32 is |x| with the sign of y.
__device__ __forceinline__ float copysign_f32(float x, float y) {
  return __int_as_float((__float_as_int(x) & 0x7fffffff) | (__float_as_int(y) & 0x80000000));
}

// copysign_f64 is |x| with the sign of y.
__device__ __forceinline__ double copysign_f64(double x, double y) {
  return __longlong_as_double((__double_as_longlong(x) & 0x7fffffffffffffff) | (__double_as_longlong(y) & 0x8000000000000000));
}

// is_inf_f32 is |x| = ∞.
__device__ __forceinline__ bool is_inf_f32(float x) { return (__float_as_int(x) & 0x7fffffff) == 0x7f800000; }

// is_inf_f64 is |x| = ∞.
__device__ __forceinline__ bool is_inf_f64(double x) { return (__double_as_longlong(x) & 0x7fffffffffffffff) == 0x7ff0000000000000; }

// is_finite_f32 is |x| < ∞.
__device__ __forceinline__ bool is_finite_f32(float x) { return (__float_as_int(x) & 0x7fffffff) < 0x7f800000; }

// is_finite_f64 is |x| < ∞.
__device__ __forceinline__ bool is_finite_f64(double x) { return (__double_as_longlong(x) & 0x7fffffffffffffff) < 0x7ff0000000000000; }

// sign_f32 is −1, 0 or 1; zeros and NaN stay what they are.
__device__ __forceinline__ float sign_f32(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }

// sign_f64 is −1, 0 or 1; zeros and NaN stay what they are.
__device__ __forceinline__ double sign_f64(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }

// max_f32 is the greater; NaN propagates, +0 is above −0.
__device__ __forceinline__ float max_f32(float x, float y) {
  float m;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(x), "f"(y));
  return m;
}

// min_f32 is the lesser; NaN propagates, −0 is below +0.
__device__ __forceinline__ float min_f32(float x, float y) {
  float m;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(x), "f"(y));
  return m;
}

// max_f64 is the greater; NaN propagates, +0 is above −0: the bits of equal
// operands differ in the sign of zero alone.
__device__ __forceinline__ double max_f64(double x, double y) {
  double equal = __longlong_as_double(__double_as_longlong(x) & __double_as_longlong(y));
  return x > y ? x : x < y ? y : x == y ? equal : x + y;
}

// min_f64 is the lesser; NaN propagates, −0 is below +0.
__device__ __forceinline__ double min_f64(double x, double y) {
  double equal = __longlong_as_double(__double_as_longlong(x) | __double_as_longlong(y));
  return x < y ? x : x > y ? y : x == y ? equal : x + y;
}

// scale_f32 is x·2^n for −252 ≤ n ≤ 254, in two steps, of which only the last
// rounds if x is near 1.
__device__ __forceinline__ float scale_f32(float x, int n) {
  int half = n >> 1;
  return x * __int_as_float((half + 127) << 23) * __int_as_float((n - half + 127) << 23);
}

// scale_f64 is x·2^n for −2044 ≤ n ≤ 2046, in two steps, of which only the last
// rounds if x is near 1.
__device__ __forceinline__ double scale_f64(double x, int n) {
  int half = n >> 1;
  return x * __longlong_as_double((long long)(half + 1023) << 52) * __longlong_as_double((long long)(n - half + 1023) << 52);
}
