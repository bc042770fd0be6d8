// dd is an unevaluated sum, lo below half a unit in the last place of hi: about
// 106 bits (Dekker, "A floating-point technique for extending the available
// precision", 1971).
struct dd {
  double hi, lo;
};

// two_sum is x + y exactly (Knuth).
__device__ __forceinline__ dd two_sum(double x, double y) {
  double s = x + y, t = s - x;
  return {s, (x - (s - t)) + (y - t)};
}

// fast_sum is two_sum for |x| ≥ |y|.
__device__ __forceinline__ dd fast_sum(double x, double y) {
  double s = x + y;
  return {s, y - (s - x)};
}

// two_product is x·y exactly.
__device__ __forceinline__ dd two_product(double x, double y) {
  double p = x * y;
  return {p, __fma_rn(x, y, -p)};
}

// dd_add is x + y.
__device__ __forceinline__ dd dd_add(dd x, dd y) {
  dd s = two_sum(x.hi, y.hi);
  return fast_sum(s.hi, s.lo + (x.lo + y.lo));
}

// dd_sub is x − y.
__device__ __forceinline__ dd dd_sub(dd x, dd y) { return dd_add(x, {-y.hi, -y.lo}); }

// dd_scale is x·y.
__device__ __forceinline__ dd dd_scale(dd x, double y) {
  dd p = two_product(x.hi, y);
  return fast_sum(p.hi, __fma_rn(x.lo, y, p.lo));
}

// dd_mul is x·y.
__device__ __forceinline__ dd dd_mul(dd x, dd y) {
  dd p = two_product(x.hi, y.hi);
  return fast_sum(p.hi, p.lo + (x.hi * y.lo + x.lo * y.hi));
}

// dd_div is x/y.
__device__ __forceinline__ dd dd_div(dd x, dd y) {
  double q = x.hi / y.hi;
  double r = __fma_rn(-q, y.hi, x.hi) + (x.lo - q * y.lo);
  return fast_sum(q, r / y.hi);
}

// dd_sqrt is √x for x > 0.
__device__ __forceinline__ dd dd_sqrt(dd x) {
  double s = __dsqrt_rn(x.hi);
  return fast_sum(s, (__fma_rn(-s, s, x.hi) + x.lo) / (2.0 * s));
}
