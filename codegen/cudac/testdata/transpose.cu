// ==== sm_80 ====
// kernel map outer=2 inner=0 "transpose"
// variant: map vector=4 2(1* *1)
// device functions: quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map(
    const float* __restrict__ b0,
    float* b1,
    const idx n,
    const idx x_groups,
    const idx a0_off,
    const idx a0_x1,
    const idx a1_off,
    const idx a1_x0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x1 = modulo(i, x_groups) * 4;
        const idx x0 = quotient(i, x_groups);
        f32_x4 s0_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const float load0 = b0[a0_off + x0 + (x1 + j) * a0_x1];  // load a0
            s0_v.e[j] = load0;
        }
        *(f32_x4*)(b1 + (a1_off + x0 * a1_x0 + x1)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=2 inner=0 "transpose"
// variant: map 2(1* *1)
// device functions: quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map(
    const float* __restrict__ b0,
    float* b1,
    const idx n,
    const idx x_d1,
    const idx a0_off,
    const idx a0_x1,
    const idx a1_off,
    const idx a1_x0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x1 = modulo(i, x_d1);
        const idx x0 = quotient(i, x_d1);
        const float load0 = b0[a0_off + x0 + x1 * a0_x1];  // load a0
        b1[a1_off + x0 * a1_x0 + x1] = load0;
    }
}

