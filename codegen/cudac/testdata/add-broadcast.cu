// ==== sm_80 ====
// kernel map outer=2 inner=0 "add-broadcast"
// variant: map vector=4 2(*1 01 10 00 *1)
// device functions: quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map_add_mul(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    const float* __restrict__ b2,
    const float* __restrict__ b3,
    float* b4,
    const idx n,
    const idx x_groups,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a2_off,
    const idx a3_off,
    const idx a4_off,
    const idx a4_x0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x1 = modulo(i, x_groups) * 4;
        const idx x0 = quotient(i, x_groups);
        const f32_x4 a0_v = *(const f32_x4*)(b0 + (a0_off + x0 * a0_x0 + x1));
        const f32_x4 a1_v = *(const f32_x4*)(b1 + (a1_off + x1));
        f32_x4 s0_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const float load0 = a0_v.e[j];  // load a0
            const float load1 = a1_v.e[j];  // load a1
            const float add2 = (load0 + load1);  // add
            const float load3 = b2[a2_off + x0];  // load a2
            const float add4 = (add2 + load3);  // add
            const float load5 = b3[a3_off];  // load a3
            const float mul6 = (add4 * load5);  // mul
            s0_v.e[j] = mul6;
        }
        *(f32_x4*)(b4 + (a4_off + x0 * a4_x0 + x1)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=2 inner=0 "add-broadcast"
// variant: map 2(*1 01 10 00 *1)
// device functions: quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_add_mul(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    const float* __restrict__ b2,
    const float* __restrict__ b3,
    float* b4,
    const idx n,
    const idx x_d1,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a2_off,
    const idx a3_off,
    const idx a4_off,
    const idx a4_x0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x1 = modulo(i, x_d1);
        const idx x0 = quotient(i, x_d1);
        const float load0 = b0[a0_off + x0 * a0_x0 + x1];  // load a0
        const float load1 = b1[a1_off + x1];  // load a1
        const float add2 = (load0 + load1);  // add
        const float load3 = b2[a2_off + x0];  // load a2
        const float add4 = (add2 + load3);  // add
        const float load5 = b3[a3_off];  // load a3
        const float mul6 = (add4 * load5);  // mul
        b4[a4_off + x0 * a4_x0 + x1] = mul6;
    }
}

