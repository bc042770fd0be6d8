// fmod_f32 is x − y·trunc(x/y), exactly, with the sign of x: the remainder of
// the significands by long division, 40 bits at a time.
__device__ __forceinline__ float fmod_f32(float x, float y) {
  unsigned int a = __float_as_uint(x) & 0x7fffffff, b = __float_as_uint(y) & 0x7fffffff;
  if (a >= 0x7f800000 || b > 0x7f800000 || b == 0) return nan_f32();
  if (a < b) return x;
  int ea = max(a >> 23, 1u), eb = max(b >> 23, 1u);
  unsigned long long r = (a & 0x7fffff) | (a >= 0x800000 ? 0x800000 : 0);
  unsigned long long d = (b & 0x7fffff) | (b >= 0x800000 ? 0x800000 : 0);
  r %= d;
  for (int left = ea - eb; left > 0; left -= 40) r = (r << min(left, 40)) % d;
  return copysign_f32(scale_f32((float)r, eb - 150), x);
}

// fmod_f64 is x − y·trunc(x/y), exactly, with the sign of x: the remainder of
// the significands by long division, 11 bits at a time.
__device__ __forceinline__ double fmod_f64(double x, double y) {
  unsigned long long a = __double_as_longlong(x) & 0x7fffffffffffffff, b = __double_as_longlong(y) & 0x7fffffffffffffff;
  if (a >= 0x7ff0000000000000 || b > 0x7ff0000000000000 || b == 0) return nan_f64();
  if (a < b) return x;
  int ea = max((int)(a >> 52), 1), eb = max((int)(b >> 52), 1);
  unsigned long long r = (a & 0xfffffffffffff) | (a >= 0x10000000000000 ? 0x10000000000000 : 0);
  unsigned long long d = (b & 0xfffffffffffff) | (b >= 0x10000000000000 ? 0x10000000000000 : 0);
  r %= d;
  for (int left = ea - eb; left > 0; left -= 11) r = (r << min(left, 11)) % d;
  return copysign_f64(scale_f64((double)r, eb - 1075), x);
}

// remainder_f32 is x − y·floor(x/y) with one rounding; it has the sign of y, a
// zero too.
__device__ __forceinline__ float remainder_f32(float x, float y) {
  float m = fmod_f32(x, y);
  if (m == 0.0f) return copysign_f32(0.0f, y);
  return (m < 0.0f) != (y < 0.0f) ? m + y : m;
}

// remainder_f64 is x − y·floor(x/y) with one rounding; it has the sign of y, a
// zero too.
__device__ __forceinline__ double remainder_f64(double x, double y) {
  double m = fmod_f64(x, y);
  if (m == 0.0) return copysign_f64(0.0, y);
  return (m < 0.0) != (y < 0.0) ? m + y : m;
}

// floordiv_f64 is floor(x/y): one less than that of the rounded quotient where
// the exact remainder says that rounding went up to an integer. Division by
// zero is that of x/y; from 2⁵³ on it is the quotient.
__device__ __forceinline__ double floordiv_f64(double x, double y) {
  double c = x / y;
  if (c != c || y == 0.0) return c;
  if (is_inf_f64(x)) return nan_f64();
  if (is_inf_f64(y)) return x != 0.0 && (x < 0.0) != (y < 0.0) ? -1.0 : c;
  if (!(fabs(c) < 0x1p53)) return c;
  double q = floor(c);
  double r = __fma_rn(-q, y, x);
  return r != 0.0 && (r < 0.0) != (y < 0.0) ? q - 1.0 : q;
}

// hypot_f32 is √(x²+y²); the squares are exact.
__device__ __forceinline__ float hypot_f32(float x, float y) {
  double a = x, b = y;
  if (is_inf_f32(x) || is_inf_f32(y)) return inf_f32();
  return (float)__dsqrt_rn(__fma_rn(a, a, b * b));
}

// hypot_f64 is √(x²+y²) of operands scaled to near 1, within 2 ulps.
__device__ __forceinline__ double hypot_f64(double x, double y) {
  double a = fabs(x), b = fabs(y);
  if (a < b) {
    double t = a;
    a = b;
    b = t;
  }
  if (is_inf_f64(x) || is_inf_f64(y)) return inf_f64();
  int e = (int)(__double_as_longlong(a) >> 52) - 1023;
  a = scale_f64(a, -e);
  b = scale_f64(b, -e);
  return scale_f64(__dsqrt_rn(__fma_rn(a, a, b * b)), e);
}
