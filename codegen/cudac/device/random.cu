// philox_group gives the words of positions 4·group … 4·group+3 of a stream:
// Philox 4x32 with ten rounds (Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", 2011); the key is the seed, the counter (offset,
// group).
__device__ __forceinline__ uint4 philox_group(unsigned long long seed, unsigned long long offset, unsigned long long group) {
  unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
  uint4 c;
  c.x = (unsigned int)offset;
  c.y = (unsigned int)(offset >> 32);
  c.z = (unsigned int)group;
  c.w = (unsigned int)(group >> 32);
#pragma unroll
  for (int round = 0; round < 10; round++) {
    unsigned int h0 = __umulhi(0xd2511f53, c.x), l0 = 0xd2511f53 * c.x;
    unsigned int h1 = __umulhi(0xcd9e8d57, c.z), l1 = 0xcd9e8d57 * c.z;
    c.x = h1 ^ c.y ^ k0;
    c.y = l1;
    c.z = h0 ^ c.w ^ k1;
    c.w = l0;
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  return c;
}

// philox_word gives the word of a position.
__device__ __forceinline__ unsigned int philox_word(unsigned long long seed, unsigned long long offset, long long position) {
  uint4 c = philox_group(seed, offset, (unsigned long long)position >> 2);
  unsigned int even = position & 2 ? c.z : c.x, odd = position & 2 ? c.w : c.y;
  return position & 1 ? odd : even;
}

// normal_f64 gives the standard normal number of a position (Box and Muller):
// r·cos 2πu₂ or r·sin 2πu₂ with r = √(−2·log u₁), u₁ in (0, 1] and u₂ in [0, 1)
// multiples of 2⁻²⁴ made from the two words of its pair.
__device__ __forceinline__ double normal_f64(unsigned long long seed, unsigned long long offset, long long position) {
  uint4 c = philox_group(seed, offset, (unsigned long long)position >> 2);
  double u1 = (double)(((position & 2 ? c.z : c.x) >> 8) + 1) * 0x1p-24;
  double u2 = (double)((position & 2 ? c.w : c.y) >> 8) * 0x1p-24;
  int n;
  dd y = quadrant_f64(0x1.921fb54442d18p+2 * u2, &n);
  return __dsqrt_rn(-2.0 * log_f64(u1)) * sin_quadrant_f64(n + 1 - (int)(position & 1), y);
}

// normal_f32 is normal_f64 in f32: 4u₂ is an integer and a rest |f| ≤ ½, exactly,
// and sin(f·π/2)/f and (cos(f·π/2) − 1)/f² are the minimax polynomials in f² of
// degree 3, 2⁻²⁴ and 2⁻³¹.
__device__ __forceinline__ float normal_f32(unsigned long long seed, unsigned long long offset, long long position) {
  uint4 c = philox_group(seed, offset, (unsigned long long)position >> 2);
  float u1 = (float)(((position & 2 ? c.z : c.x) >> 8) + 1) * 0x1p-24f;
  float turns = (float)((position & 2 ? c.w : c.y) >> 8) * 0x1p-22f;
  float whole = rintf(turns), f = turns - whole, s = f * f;
  int n = (int)whole + 1 - (int)(position & 1);
  float q = -0x1.3315a4p-8f;
  q = __fmaf_rn(q, s, 0x1.468094p-4f);
  q = __fmaf_rn(q, s, -0x1.4abc24p-1f);
  q = __fmaf_rn(q, s, 0x1.921fb6p+0f);
  float p = 0x1.d46c34p-11f;
  p = __fmaf_rn(p, s, -0x1.55b130p-6f);
  p = __fmaf_rn(p, s, 0x1.03c1aep-2f);
  p = __fmaf_rn(p, s, -0x1.3bd3ccp+0f);
  float y = n & 1 ? __fmaf_rn(p, s, 1.0f) : q * f;
  return __fsqrt_rn(-2.0f * log_f32(u1)) * (n & 2 ? -y : y);
}
