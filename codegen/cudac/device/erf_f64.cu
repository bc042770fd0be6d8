// erf_near_f64 is erf x for |x| ≤ 1: x + x·E(x²) with the minimax polynomial of
// degree 12: 2⁻⁵⁶.
__device__ __forceinline__ double erf_near_f64(double x) {
  double s = x * x, q = 0x1.556e619f86543p-33;
  q = __fma_rn(q, s, -0x1.d6f3f309a221bp-30);
  q = __fma_rn(q, s, 0x1.15eb2669ab90dp-26);
  q = __fma_rn(q, s, -0x1.640d046a21f41p-23);
  q = __fma_rn(q, s, 0x1.ba76923ba8db9p-20);
  q = __fma_rn(q, s, -0x1.f4dde3d7701dep-17);
  q = __fma_rn(q, s, 0x1.f9a3c4583c9f8p-14);
  q = __fma_rn(q, s, -0x1.c02db983b93e3p-11);
  q = __fma_rn(q, s, 0x1.565bcd2dbdc54p-8);
  q = __fma_rn(q, s, -0x1.b82ce3135ac4ep-6);
  q = __fma_rn(q, s, 0x1.ce2f21a04596fp-4);
  q = __fma_rn(q, s, -0x1.812746b037a25p-2);
  q = __fma_rn(q, s, 0x1.06eba8214db69p-3);
  return __fma_rn(q, x, x);
}

// erfcx_f64 is e^z²·erfc z; z + 3 times that is smooth in t = (z−3)/(z+3): the
// minimax polynomial of degree 22 for 0.46 ≤ z ≤ 27.3 is 2⁻⁵³ off.
__device__ __forceinline__ double erfcx_f64(double z) {
  double t = (z - 3.0) / (z + 3.0), g = 0x1.35c12339deca1p-28;
  g = __fma_rn(g, t, -0x1.11bbfbeb32a1bp-25);
  g = __fma_rn(g, t, 0x1.3305d5e30c9e0p-28);
  g = __fma_rn(g, t, 0x1.f8c0700adb129p-24);
  g = __fma_rn(g, t, 0x1.2e9231a52e84ap-27);
  g = __fma_rn(g, t, -0x1.4f1201298a171p-22);
  g = __fma_rn(g, t, -0x1.7ed07249e6f48p-22);
  g = __fma_rn(g, t, 0x1.19cafc3f6742cp-20);
  g = __fma_rn(g, t, 0x1.6e65ca872cb42p-19);
  g = __fma_rn(g, t, -0x1.400e8fe2dec67p-18);
  g = __fma_rn(g, t, -0x1.24de0cc16d776p-16);
  g = __fma_rn(g, t, 0x1.fe143698ebdfap-16);
  g = __fma_rn(g, t, 0x1.c3217f653d56bp-14);
  g = __fma_rn(g, t, -0x1.22393022b0fb5p-12);
  g = __fma_rn(g, t, -0x1.1f78cfb4d84d7p-11);
  g = __fma_rn(g, t, 0x1.8dae3ab799e75p-9);
  g = __fma_rn(g, t, -0x1.3dd3e7ce62ef9p-10);
  g = __fma_rn(g, t, -0x1.b78993d792c5cp-6);
  g = __fma_rn(g, t, 0x1.e995f11b37a41p-4);
  g = __fma_rn(g, t, -0x1.3deb21415d7d2p-2);
  g = __fma_rn(g, t, 0x1.2e326945de19fp-1);
  g = __fma_rn(g, t, -0x1.c44c471baa37ap-1);
  g = __fma_rn(g, t, 0x1.12f21ddd9f5e2p+0);
  return g / (z + 3.0);
}

// erfc_far_f64 is erfc z for z ≥ ½; e^−z² takes what rounding z² loses.
__device__ __forceinline__ double erfc_far_f64(double z) {
  dd s = two_product(z, z);
  int n;
  dd e = expm1_split_f64(-s.hi, -s.lo, &n);
  double c = erfcx_f64(z);
  double y = scale_f64(__fma_rn(c, e.hi + e.lo, c), max(n, -2000));
  return z > 27.3 ? 0.0 : y;
}

// erf_f64 is within 2 ulps.
__device__ __forceinline__ double erf_f64(double x) {
  double a = fabs(x);
  return copysign_f64(a >= 1.0 ? 1.0 - erfc_far_f64(a) : erf_near_f64(a), x);
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
  double miss = a > 0.75 ? (1.0 - a) - erfc_far_f64(y) : erf_near_f64(y) - a;
  double step = miss / (0x1.20dd750429b6dp+0 * exp_f64(-y * y));  // 2/√π
  return copysign_f64(y - step / __fma_rn(y, step, 1.0), x);
}

// erfc_f32 is rounded once from f64.
__device__ __forceinline__ float erfc_f32(float x) { return (float)erfc_f64(x); }

// erfinv_f32 is rounded once from f64.
__device__ __forceinline__ float erfinv_f32(float x) { return (float)erfinv_f64(x); }
