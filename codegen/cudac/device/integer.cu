// is_negative_int is x < 0, which NVRTC warns of for unsigned types.
template <typename T>
__device__ __forceinline__ bool is_negative_int(T x) { return !(x > T(0) || x == T(0)); }

// abs_int is |x|; that of the least integer is itself.
template <typename T>
__device__ __forceinline__ T abs_int(T x) { return is_negative_int(x) ? T(0ull - (unsigned long long)x) : x; }

// sign_int is −1, 0 or 1.
template <typename T>
__device__ __forceinline__ T sign_int(T x) { return x > T(0) ? T(1) : is_negative_int(x) ? T(-1) : T(0); }

// div_int truncates; x/0 is 0, and the least integer divided by −1 wraps.
template <typename T>
__device__ __forceinline__ T div_int(T x, T y) {
  if (y == T(0)) return T(0);
  if (y == T(-1) && is_negative_int(y)) return T(0ull - (unsigned long long)x);
  return T(x / y);
}

// fmod_int is the remainder of div_int, with the sign of x; x%0 is 0.
template <typename T>
__device__ __forceinline__ T fmod_int(T x, T y) {
  if (y == T(0) || y == T(-1) && is_negative_int(y)) return T(0);
  return T(x % y);
}

// floordiv_int rounds down; x/0 is 0.
template <typename T>
__device__ __forceinline__ T floordiv_int(T x, T y) {
  T q = div_int(x, y);
  return fmod_int(x, y) != T(0) && is_negative_int(x) != is_negative_int(y) ? T(q - T(1)) : q;
}

// remainder_int has the sign of y; x%0 is 0.
template <typename T>
__device__ __forceinline__ T remainder_int(T x, T y) {
  T m = fmod_int(x, y);
  return m != T(0) && is_negative_int(x) != is_negative_int(y) ? T(m + y) : m;
}

// pow_int is repeated multiplication, wrapping. A negative exponent gives 1 for
// base 1, ±1 for base −1, and 0 otherwise.
template <typename T>
__device__ __forceinline__ T pow_int(T x, T y) {
  if (is_negative_int(y)) {
    if (x == T(1) || x == T(-1)) return (y & T(1)) == T(0) ? T(1) : x;
    return T(0);
  }
  unsigned long long p = 1, b = (unsigned long long)x;
  for (unsigned long long n = (unsigned long long)y; n > 0; n >>= 1) {
    if (n & 1) p *= b;
    b *= b;
  }
  return T(p);
}

// shl_int gives 0 for a count that is negative or not below the width.
template <typename T>
__device__ __forceinline__ T shl_int(T x, T y) {
  return (unsigned long long)y < 8 * sizeof(T) ? T((unsigned long long)x << (int)y) : T(0);
}

// shr_int shifts by the sign; a count that is negative or not below the width
// leaves nothing but signs.
template <typename T>
__device__ __forceinline__ T shr_int(T x, T y) {
  bool inside = (unsigned long long)y < 8 * sizeof(T);
  return inside ? T(x >> (int)y) : is_negative_int(x) ? T(-1) : T(0);
}
