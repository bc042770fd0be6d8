// ==== sm_80 ====
// kernel map outer=1 inner=0 "dropout"
// variant: map vector=4 1(1 1 1)
// device functions: philox_word, shr_int

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map_shr_mul_greaterequal_div(
    const float* __restrict__ b0,
    float* b1,
    const idx n,
    const idx a0_off,
    const long long p0,
    const long long p1,
    const idx a1_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 4;
        const f32_x4 a0_v = *(const f32_x4*)(b0 + (a0_off + x0));
        f32_x4 s0_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const long long philox0 = (long long)philox_word(p0, p1, (long long)((x0 + j)));  // philox
            const long long constant1 = 8ll;  // const
            const long long shr2 = shr_int(philox0, constant1);  // shr
            const float cast3 = (float)shr2;  // cast i64 to f32
            const float constant4 = 5.9604645e-08f;  // const
            const float mul5 = (cast3 * constant4);  // mul
            const float constant6 = 0.25f;  // const
            const bool greaterequal7 = (mul5 >= constant6);  // greaterequal
            const float load8 = a0_v.e[j];  // load a0
            const float constant9 = 0.75f;  // const
            const float div10 = (load8 / constant9);  // div
            const float constant11 = 0.0f;  // const
            const float where12 = (greaterequal7 ? div10 : constant11);  // where
            s0_v.e[j] = where12;
        }
        *(f32_x4*)(b1 + (a1_off + x0)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=1 inner=0 "dropout"
// variant: map 1(1 1 1)
// device functions: philox_word, shr_int

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_shr_mul_greaterequal_div(
    const float* __restrict__ b0,
    float* b1,
    const idx n,
    const long long p0,
    const long long p1,
    const idx a0_off,
    const idx a1_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const long long philox0 = (long long)philox_word(p0, p1, (long long)(x0));  // philox
        const long long constant1 = 8ll;  // const
        const long long shr2 = shr_int(philox0, constant1);  // shr
        const float cast3 = (float)shr2;  // cast i64 to f32
        const float constant4 = 5.9604645e-08f;  // const
        const float mul5 = (cast3 * constant4);  // mul
        const float constant6 = 0.25f;  // const
        const bool greaterequal7 = (mul5 >= constant6);  // greaterequal
        const float load8 = b0[a0_off + x0];  // load a0
        const float constant9 = 0.75f;  // const
        const float div10 = (load8 / constant9);  // div
        const float constant11 = 0.0f;  // const
        const float where12 = (greaterequal7 ? div10 : constant11);  // where
        b1[a1_off + x0] = where12;
    }
}

