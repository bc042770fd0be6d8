// ==== sm_80 ====
// kernel map outer=2 inner=0 "where"
// variant: map vector=4 2(10 *1 *1 10 01)
// device functions: quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map_greaterequal_and_where(
    const float* __restrict__ b1,
    const unsigned char* __restrict__ b0,
    float* b2,
    const idx n,
    const idx x_groups,
    const idx a1_off,
    const idx a1_x0,
    const idx a0_off,
    const idx a2_off,
    const idx a2_x0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x1 = modulo(i, x_groups) * 4;
        const idx x0 = quotient(i, x_groups);
        const f32_x4 a1_v = *(const f32_x4*)(b1 + (a1_off + x0 * a1_x0 + x1));
        f32_x4 s0_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const long long coord0 = (long long)(x0);  // coord
            const long long coord1 = (long long)((x1 + j));  // coord
            const bool greaterequal2 = (coord0 >= coord1);  // greaterequal
            const bool load3 = ((b0[a0_off + x0]) != 0);  // load a0
            const bool and4 = (greaterequal2 && load3);  // and
            const float load5 = a1_v.e[j];  // load a1
            const float constant6 = __int_as_float(0xff800000);  // const
            const float where7 = (and4 ? load5 : constant6);  // where
            s0_v.e[j] = where7;
        }
        *(f32_x4*)(b2 + (a2_off + x0 * a2_x0 + x1)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=2 inner=0 "where"
// variant: map 2(10 *1 *1 10 01)
// device functions: quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_greaterequal_and_where(
    const unsigned char* __restrict__ b0,
    const float* __restrict__ b1,
    float* b2,
    const idx n,
    const idx x_d1,
    const idx a0_off,
    const idx a1_off,
    const idx a1_x0,
    const idx a2_off,
    const idx a2_x0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x1 = modulo(i, x_d1);
        const idx x0 = quotient(i, x_d1);
        const long long coord0 = (long long)(x0);  // coord
        const long long coord1 = (long long)(x1);  // coord
        const bool greaterequal2 = (coord0 >= coord1);  // greaterequal
        const bool load3 = ((b0[a0_off + x0]) != 0);  // load a0
        const bool and4 = (greaterequal2 && load3);  // and
        const float load5 = b1[a1_off + x0 * a1_x0 + x1];  // load a1
        const float constant6 = __int_as_float(0xff800000);  // const
        const float where7 = (and4 ? load5 : constant6);  // where
        b2[a2_off + x0 * a2_x0 + x1] = where7;
    }
}

