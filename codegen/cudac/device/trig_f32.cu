// two_over_pi_f32 is 2/π in words of 32 bits, after one that is zero.
__device__ const unsigned int two_over_pi_f32[9] = {
    0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};

// far_quadrant_f32 is quadrant_f32 for 2¹³ ≤ x < ∞ (Payne and Hanek, "Radian
// reduction for trigonometric functions", 1983). Of m·2^e·2/π only what counts
// modulo 4 is computed: the product of m with 96 bits of 2/π that start where
// that of the bit before is a multiple of 4.
__device__ __forceinline__ float far_quadrant_f32(float x, int *quadrant) {
  unsigned int u = __float_as_uint(x), m = (u & 0x7fffff) | 0x800000;
  int at = (int)(u >> 23) - 150 - 2 + 32, word = at >> 5, shift = 32 - (at & 31);
  unsigned long long w01 = (unsigned long long)two_over_pi_f32[word] << 32 | two_over_pi_f32[word + 1];
  unsigned long long w12 = (unsigned long long)two_over_pi_f32[word + 1] << 32 | two_over_pi_f32[word + 2];
  unsigned long long w23 = (unsigned long long)two_over_pi_f32[word + 2] << 32 | two_over_pi_f32[word + 3];
  unsigned long long low = (w23 >> shift & 0xffffffff) * m;
  unsigned long long middle = (w12 >> shift & 0xffffffff) * m + (low >> 32);
  unsigned int high = (unsigned int)(w01 >> shift) * m + (unsigned int)(middle >> 32);
  unsigned long long fraction = (unsigned long long)high << 34 | (middle & 0xffffffff) << 2 | (low >> 30 & 3);
  *quadrant = (int)(high >> 30) + (int)(fraction >> 63);  // to the nearest
  return (float)((double)(long long)fraction * 0x1.921fb54442d18p-64);
}

// quadrant_f32 gives n mod 4 and y with x = n·π/2 + y, |y| little above π/4.
// Below 2¹³ the multiple of π/2, in three parts, is subtracted (Cody and Waite);
// the first subtraction is exact.
__device__ __forceinline__ float quadrant_f32(float x, int *quadrant) {
  float a = fabsf(x);
  if (a < 8192.0f) {
    float shifted = __fmaf_rn(x, 0x1.45f306p-1f, 0x1.8p23f);  // the low bits hold n
    float n = shifted - 0x1.8p23f;
    float y = __fmaf_rn(n, -0x1.921fb6p+0f, x);
    y = __fmaf_rn(n, 0x1.777a5cp-25f, y);
    *quadrant = __float_as_int(shifted) & 3;
    y = __fmaf_rn(n, 0x1.ee59dap-50f, y);
    return n == 0.0f ? x : y;  // −0 is kept
  }
  if (!(a < inf_f32())) {
    *quadrant = 0;
    return nan_f32();
  }
  float y = far_quadrant_f32(a, quadrant);
  if (x < 0.0f) {
    *quadrant = -*quadrant;
    y = -y;
  }
  return y;
}

// sin_quadrant_f32 is the sine of n·π/2 + y: by the minimax polynomials of
// (sin y − y)/y³ and (cos y − 1 + y²/2)/y⁴ of degree 2 in y², 2⁻²⁸ and 2⁻³³.
__device__ __forceinline__ float sin_quadrant_f32(int n, float y) {
  float a = fabsf(y), s = y * y;
  float q = -0x1.99558ap-13f;
  q = __fmaf_rn(q, s, 0x1.11077cp-7f);
  q = __fmaf_rn(q, s, -0x1.555546p-3f);
  float sine = __fmaf_rn(q * s, a, a);
  float c = 0x1.99e116p-16f;
  c = __fmaf_rn(c, s, -0x1.6c0c1ap-10f);
  c = __fmaf_rn(c, s, 0x1.55554ap-5f);
  float cosine = __fmaf_rn(c, s * s, __fmaf_rn(s, -0.5f, 1.0f));
  int sign = (n & 1 ? 0 : __float_as_int(y) & 0x80000000) ^ (n & 2) << 30;
  return __int_as_float(__float_as_int(n & 1 ? cosine : sine) ^ sign);
}

// sin_f32 is within 2 ulps, large operands included.
__device__ __forceinline__ float sin_f32(float x) {
  int n;
  float y = quadrant_f32(x, &n);
  return sin_quadrant_f32(n, y);
}

// cos_f32 is within 2 ulps, large operands included.
__device__ __forceinline__ float cos_f32(float x) {
  int n;
  float y = quadrant_f32(x, &n);
  return sin_quadrant_f32(n + 1, y);
}
