// erf_near_f64 is erf x for |x| ≤ ½: x + x·E(x²) with the minimax polynomial of
// degree 9: 2⁻⁵⁶.
__device__ __forceinline__ double erf_near_f64(double x) {
  double s = x * x, q = -0x1.25d093c7141eep-21;
  q = __fma_rn(q, s, 0x1.1870295cffa45p-19);
  q = __fma_rn(q, s, -0x1.fbddac4878646p-17);
  q = __fma_rn(q, s, 0x1.f9dc845e29bf1p-14);
  q = __fma_rn(q, s, -0x1.c02ec3f29687dp-11);
  q = __fma_rn(q, s, 0x1.565bd00396139p-8);
  q = __fma_rn(q, s, -0x1.b82ce31bca7c1p-6);
  q = __fma_rn(q, s, 0x1.ce2f21a051477p-4);
  q = __fma_rn(q, s, -0x1.812746b037a74p-2);
  q = __fma_rn(q, s, 0x1.06eba8214db69p-3);
  return __fma_rn(q, x, x);
}

// erfcx_f64 is e^z²·erfc z, which is smooth in t = (z−3)/(z+3): the minimax
// polynomial of degree 23 for 0.49 ≤ z ≤ 27.3 is 2⁻⁵⁵ off.
__device__ __forceinline__ double erfcx_f64(double z) {
  double t = (z - 3.0) / (z + 3.0), g = 0x1.53121dcd58d7ap-29;
  g = __fma_rn(g, t, 0x1.767f28ae98779p-32);
  g = __fma_rn(g, t, -0x1.7a6fe43926d55p-27);
  g = __fma_rn(g, t, -0x1.18f7bf05f85d3p-28);
  g = __fma_rn(g, t, 0x1.2b91696b6620ap-26);
  g = __fma_rn(g, t, 0x1.46355d0008b5ap-25);
  g = __fma_rn(g, t, 0x1.e17ecb86a147ep-27);
  g = __fma_rn(g, t, -0x1.e57cc29390b38p-23);
  g = __fma_rn(g, t, -0x1.336b77c5c2171p-22);
  g = __fma_rn(g, t, 0x1.4eea66c129dcep-20);
  g = __fma_rn(g, t, 0x1.1c34a9db3f36ap-19);
  g = __fma_rn(g, t, -0x1.0ba526acbfa85p-17);
  g = __fma_rn(g, t, -0x1.af82605923d24p-17);
  g = __fma_rn(g, t, 0x1.0cabcf1ba4534p-14);
  g = __fma_rn(g, t, 0x1.7ba0dfc274930p-15);
  g = __fma_rn(g, t, -0x1.39084aaafcb09p-11);
  g = __fma_rn(g, t, 0x1.73101ea0eaf47p-11);
  g = __fma_rn(g, t, 0x1.17c838ea6e04bp-8);
  g = __fma_rn(g, t, -0x1.8fa58eb5e3e98p-6);
  g = __fma_rn(g, t, 0x1.258b13b01a326p-4);
  g = __fma_rn(g, t, -0x1.336ffbef08b1ep-3);
  g = __fma_rn(g, t, 0x1.f6ff204105926p-3);
  g = __fma_rn(g, t, -0x1.4e102b9cf8513p-2);
  return __fma_rn(g, t, 0x1.6e9827d229d2dp-3);
}

// erfc_far_f64 is erfc z for z ≥ ½; e^−z² takes what rounding z² loses.
__device__ __forceinline__ double erfc_far_f64(double z) {
  dd s = two_product(z, z);
  int n;
  double p = exp_split_f64(-s.hi, -s.lo, &n);
  double y = scale_f64(p * erfcx_f64(z), max(n, -2000));
  return z > 27.3 ? 0.0 : y;
}

// erf_f64 is within 2 ulps.
__device__ __forceinline__ double erf_f64(double x) {
  double a = fabs(x);
  return copysign_f64(a >= 0.5 ? 1.0 - erfc_far_f64(a) : erf_near_f64(a), x);
}

// erfc_f64 is 1 − erf x within 4 ulps.
__device__ __forceinline__ double erfc_f64(double x) {
  double a = fabs(x);
  if (!(a >= 0.5)) return 1.0 - erf_near_f64(x);
  double tail = erfc_far_f64(a);
  return x < 0.0 ? 2.0 - tail : tail;
}

// erfinv_f64 is the inverse of erf within 4 ulps. It starts, 2⁻²⁰ off, from minimax
// polynomials of erfinv(x)/x in w = −log(1−x²) and its root, and mends that by a step
// of Halley's method: for small |x| by erf, for large by erfc, of which 1−|x| is
// exact.
__device__ __forceinline__ double erfinv_f64(double x) {
  double a = fabs(x), p;
  if (a == 1.0) return copysign_f64(inf_f64(), x);
  if (!(a < 1.0)) return nan_f64();
  double w = -log_f64((1.0 - a) * (1.0 + a));
  if (w < 5.0) {
    double u = w - 2.5;
    p = -0x1.2e04dd2deeba3p-27;
    p = __fma_rn(p, u, 0x1.8f20f8e125ad1p-26);
    p = __fma_rn(p, u, 0x1.f4875600982fbp-22);
    p = __fma_rn(p, u, -0x1.d0c1836624a64p-19);
    p = __fma_rn(p, u, -0x1.4d14318a8d77cp-18);
    p = __fma_rn(p, u, 0x1.c9e6c5342d895p-13);
    p = __fma_rn(p, u, -0x1.486618a58aa22p-10);
    p = __fma_rn(p, u, -0x1.11c4eb78403ecp-8);
    p = __fma_rn(p, u, 0x1.f91e8adbf7a6dp-3);
    p = __fma_rn(p, u, 0x1.805c5d1f8ef18p+0);
  } else {
    double u = __dsqrt_rn(w) - 3.0;
    p = -0x1.5c01034234752p-20;
    p = __fma_rn(p, u, 0x1.06963bb1cdbcbp-15);
    p = __fma_rn(p, u, -0x1.1e799863e8f85p-12);
    p = __fma_rn(p, u, 0x1.410883a0f4d72p-10);
    p = __fma_rn(p, u, -0x1.aa349c7fa52d9p-9);
    p = __fma_rn(p, u, 0x1.7575f5db06963p-8);
    p = __fma_rn(p, u, -0x1.fd4acc1af426cp-8);
    p = __fma_rn(p, u, 0x1.35f73817ce7d3p-7);
    p = __fma_rn(p, u, 0x1.006eb763e2d8ap+0);
    p = __fma_rn(p, u, 0x1.6a9ef7b35d6e2p+1);
  }
  double y = a * p;
  double miss = a > 0.5 ? (1.0 - a) - erfc_far_f64(fmax(y, 0.25)) : erf_f64(y) - a;
  double step = miss / (0x1.20dd750429b6dp+0 * exp_f64(-y * y));  // 2/√π
  return copysign_f64(y - step / __fma_rn(y, step, 1.0), x);
}

// erfc_f32 is rounded once from f64.
__device__ __forceinline__ float erfc_f32(float x) { return (float)erfc_f64(x); }

// erfinv_f32 is rounded once from f64.
__device__ __forceinline__ float erfinv_f32(float x) { return (float)erfinv_f64(x); }
