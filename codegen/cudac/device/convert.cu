// f16_to_f32 is the value of a binary16, exactly.
__device__ __forceinline__ float f16_to_f32(unsigned short h) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
  return x;
}

// f32_to_f16 rounds to binary16, ties to even; what is too large is infinite.
__device__ __forceinline__ unsigned short f32_to_f16(float x) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}

// bf16_to_f32 is the value of a bfloat16, exactly: the upper half of a float.
__device__ __forceinline__ float bf16_to_f32(unsigned short h) { return __uint_as_float((unsigned int)h << 16); }

// f32_to_bf16 rounds to bfloat16, ties to even.
__device__ __forceinline__ unsigned short f32_to_bf16(float x) {
  unsigned short h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}

// f8e4m3_to_f32 is the value of an E4M3FN, exactly: its bits where those of a
// float lie, times the quotient of the exponents' biases.
__device__ __forceinline__ float f8e4m3_to_f32(unsigned char c) {
  unsigned int code = c & 0x7f;
  float x = code == 0x7f ? nan_f32() : __uint_as_float(code << 20) * 0x1p120f;
  return c & 0x80 ? -x : x;
}

// f8e5m2_to_f32 is the value of an E5M2, exactly: the upper half of a binary16.
__device__ __forceinline__ float f8e5m2_to_f32(unsigned char c) { return f16_to_f32((unsigned short)(c << 8)); }

// f8_code rounds a float that is not negative, given by its bits, to the nearest
// code of so many mantissa bits, ties to even, as if exponents had no upper end.
// Below the least normal number codes are multiples of the least subnormal:
// adding 2²³ of those leaves their number in the low bits.
__device__ __forceinline__ unsigned int f8_code(unsigned int u, int mantissa, int bias) {
  int drop = 23 - mantissa;
  unsigned int rebias = 127 - bias;
  unsigned int magic = (rebias + 1 + drop) << 23;
  unsigned int low = __float_as_uint(__uint_as_float(u) + __uint_as_float(magic)) - magic;
  unsigned int normal = (u - (rebias << 23) + (1u << (drop - 1)) - 1 + ((u >> drop) & 1)) >> drop;
  return u < (rebias + 1) << 23 ? low : normal;
}

// f32_to_f8e4m3 rounds to E4M3FN, ties to even; what is too large becomes ±448 or,
// without saturation, NaN.
__device__ __forceinline__ unsigned char f32_to_f8e4m3(float x, bool saturate) {
  unsigned int u = __float_as_uint(x), sign = u >> 24 & 0x80;
  u &= 0x7fffffff;
  unsigned int code = u < 0x7f800000 ? f8_code(u, 3, 7) : 0x7f;
  if (code > 0x7e) code = u <= 0x7f800000 && saturate ? 0x7e : 0x7f;
  return (unsigned char)(sign | code);
}

// f32_to_f8e5m2 rounds to E5M2, ties to even; what is too large becomes ±57344 or,
// without saturation, infinite.
__device__ __forceinline__ unsigned char f32_to_f8e5m2(float x, bool saturate) {
  unsigned int u = __float_as_uint(x), sign = u >> 24 & 0x80;
  u &= 0x7fffffff;
  unsigned int code = u < 0x7f800000 ? f8_code(u, 2, 15) : 0x7c;
  if (code > 0x7b) code = saturate ? 0x7b : 0x7c;
  if (u > 0x7f800000) code = 0x7e;
  return (unsigned char)(sign | code);
}

// odd_f64 is x rounded to odd in f32: x itself where f32 holds it, else its
// neighbour with an odd mantissa, so that a further rounding is the only one
// that counts (Boldo and Melquiond, "When double rounding is odd", 2005).
__device__ __forceinline__ float odd_f64(double x) {
  float f = __double2float_rz(x);
  return (double)f == x ? f : __int_as_float(__float_as_int(f) | 1);
}

// odd_i32 is x rounded to odd in f32; see odd_f64.
__device__ __forceinline__ float odd_i32(int x) {
  float f = __int2float_rz(x);
  return __float2int_rz(f) == x ? f : __int_as_float(__float_as_int(f) | 1);
}

// odd_u32 is x rounded to odd in f32; see odd_f64.
__device__ __forceinline__ float odd_u32(unsigned int x) {
  float f = __uint2float_rz(x);
  return __float2uint_rz(f) == x ? f : __int_as_float(__float_as_int(f) | 1);
}

// odd_i64 is x rounded to odd in f32; see odd_f64.
__device__ __forceinline__ float odd_i64(long long x) {
  float f = __ll2float_rz(x);
  return __float2ll_rz(f) == x ? f : __int_as_float(__float_as_int(f) | 1);
}

// odd_u64 is x rounded to odd in f32; see odd_f64.
__device__ __forceinline__ float odd_u64(unsigned long long x) {
  float f = __ull2float_rz(x);
  return __float2ull_rz(f) == x ? f : __int_as_float(__float_as_int(f) | 1);
}

// f32_to_i32 truncates and saturates; NaN gives 0.
__device__ __forceinline__ int f32_to_i32(float x) { return __float2int_rz(x); }

// f32_to_u32 truncates and saturates; NaN gives 0.
__device__ __forceinline__ unsigned int f32_to_u32(float x) { return __float2uint_rz(x); }

// f32_to_i64 truncates and saturates; NaN gives 0.
__device__ __forceinline__ long long f32_to_i64(float x) { return x != x ? 0 : __float2ll_rz(x); }

// f32_to_u64 truncates and saturates; NaN gives 0.
__device__ __forceinline__ unsigned long long f32_to_u64(float x) { return x != x ? 0 : __float2ull_rz(x); }

// f64_to_i32 truncates and saturates; NaN gives 0.
__device__ __forceinline__ int f64_to_i32(double x) { return x != x ? 0 : __double2int_rz(x); }

// f64_to_u32 truncates and saturates; NaN gives 0.
__device__ __forceinline__ unsigned int f64_to_u32(double x) { return x != x ? 0 : __double2uint_rz(x); }

// f64_to_i64 truncates and saturates; NaN gives 0.
__device__ __forceinline__ long long f64_to_i64(double x) { return x != x ? 0 : __double2ll_rz(x); }

// f64_to_u64 truncates and saturates; NaN gives 0.
__device__ __forceinline__ unsigned long long f64_to_u64(double x) { return x != x ? 0 : __double2ull_rz(x); }
