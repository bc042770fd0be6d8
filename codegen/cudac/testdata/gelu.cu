// ==== sm_80 ====
// kernel map outer=1 inner=0 "gelu"
// variant: map vector=4 1(1 1 1)
// device functions: gelu_f32

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map_gelu_add(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    float* b2,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 4;
        const f32_x4 a0_v = *(const f32_x4*)(b0 + (a0_off + x0));
        const f32_x4 a1_v = *(const f32_x4*)(b1 + (a1_off + x0));
        f32_x4 s0_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const float load0 = a0_v.e[j];  // load a0
            const float gelu1 = gelu_f32(load0);  // gelu
            const float load2 = a1_v.e[j];  // load a1
            const float add3 = (gelu1 + load2);  // add
            s0_v.e[j] = add3;
        }
        *(f32_x4*)(b2 + (a2_off + x0)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=1 inner=0 "gelu"
// variant: map 1(1 1 1)
// device functions: gelu_f32

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_gelu_add(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    float* b2,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const float load0 = b0[a0_off + x0];  // load a0
        const float gelu1 = gelu_f32(load0);  // gelu
        const float load2 = b1[a1_off + x0];  // load a1
        const float add3 = (gelu1 + load2);  // add
        b2[a2_off + x0] = add3;
    }
}

