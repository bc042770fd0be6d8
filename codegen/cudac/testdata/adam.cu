// ==== sm_80 ====
// kernel map outer=1 inner=0 "adam"
// variant: map vector=4 1(1 1 1 1 1 1 1)

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map_mul_add_abs_mul(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    const float* __restrict__ b2,
    const float* __restrict__ b3,
    float* b4,
    float* b5,
    float* b6,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off,
    const idx a3_off,
    const float p0,
    const idx a4_off,
    const idx a5_off,
    const idx a6_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 4;
        const f32_x4 a0_v = *(const f32_x4*)(b0 + (a0_off + x0));
        const f32_x4 a1_v = *(const f32_x4*)(b1 + (a1_off + x0));
        const f32_x4 a2_v = *(const f32_x4*)(b2 + (a2_off + x0));
        const f32_x4 a3_v = *(const f32_x4*)(b3 + (a3_off + x0));
        f32_x4 s0_v;
        f32_x4 s1_v;
        f32_x4 s2_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const float load0 = a0_v.e[j];  // load a0
            const float load1 = a1_v.e[j];  // load a1
            const float load2 = a2_v.e[j];  // load a2
            const float load3 = a3_v.e[j];  // load a3
            const float constant4 = 0.9f;  // const
            const float mul5 = (load2 * constant4);  // mul
            const float constant6 = 0.1f;  // const
            const float mul7 = (load1 * constant6);  // mul
            const float add8 = (mul5 + mul7);  // add
            const float abs9 = fabsf(load3);  // abs
            const float constant10 = 0.999f;  // const
            const float mul11 = (abs9 * constant10);  // mul
            const float mul12 = (load1 * load1);  // mul
            const float constant13 = 0.001f;  // const
            const float mul14 = (mul12 * constant13);  // mul
            const float add15 = (mul11 + mul14);  // add
            const float sqrt16 = __fsqrt_rn(add15);  // sqrt
            const float constant17 = 1e-08f;  // const
            const float add18 = (sqrt16 + constant17);  // add
            const float div19 = (add8 / add18);  // div
            const float param20 = p0;  // param
            const float mul21 = (param20 * div19);  // mul
            const float sub22 = (load0 - mul21);  // sub
            s0_v.e[j] = sub22;
            s1_v.e[j] = add8;
            s2_v.e[j] = add15;
        }
        *(f32_x4*)(b4 + (a4_off + x0)) = s0_v;
        *(f32_x4*)(b5 + (a5_off + x0)) = s1_v;
        *(f32_x4*)(b6 + (a6_off + x0)) = s2_v;
    }
}

// ==== sm_80 ====
// kernel map outer=1 inner=0 "adam"
// variant: map 1(1 1 1 1 1 1 1)

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_mul_add_abs_mul(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    const float* __restrict__ b2,
    const float* __restrict__ b3,
    float* b4,
    float* b5,
    float* b6,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off,
    const idx a3_off,
    const float p0,
    const idx a4_off,
    const idx a5_off,
    const idx a6_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const float load0 = b0[a0_off + x0];  // load a0
        const float load1 = b1[a1_off + x0];  // load a1
        const float load2 = b2[a2_off + x0];  // load a2
        const float load3 = b3[a3_off + x0];  // load a3
        const float constant4 = 0.9f;  // const
        const float mul5 = (load2 * constant4);  // mul
        const float constant6 = 0.1f;  // const
        const float mul7 = (load1 * constant6);  // mul
        const float add8 = (mul5 + mul7);  // add
        const float abs9 = fabsf(load3);  // abs
        const float constant10 = 0.999f;  // const
        const float mul11 = (abs9 * constant10);  // mul
        const float mul12 = (load1 * load1);  // mul
        const float constant13 = 0.001f;  // const
        const float mul14 = (mul12 * constant13);  // mul
        const float add15 = (mul11 + mul14);  // add
        const float sqrt16 = __fsqrt_rn(add15);  // sqrt
        const float constant17 = 1e-08f;  // const
        const float add18 = (sqrt16 + constant17);  // add
        const float div19 = (add8 / add18);  // div
        const float param20 = p0;  // param
        const float mul21 = (param20 * div19);  // mul
        const float sub22 = (load0 - mul21);  // sub
        b4[a4_off + x0] = sub22;
        b5[a5_off + x0] = add8;
        b6[a6_off + x0] = add15;
    }
}

