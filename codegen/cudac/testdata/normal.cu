// ==== sm_80 ====
// kernel map outer=1 inner=0 "normal"
// variant: map vector=4 1(1 1)
// device functions: normal_f32

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map(
    float* b0,
    const idx n,
    const long long p0,
    const long long p1,
    const idx a0_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 4;
        f32_x4 s0_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const float normal0 = normal_f32(p0, p1, (long long)((x0 + j)));  // normal
            s0_v.e[j] = normal0;
        }
        *(f32_x4*)(b0 + (a0_off + x0)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=1 inner=0 "normal"
// variant: map 1(1 1)
// device functions: normal_f32

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map(
    float* b0,
    const idx n,
    const long long p0,
    const long long p1,
    const idx a0_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const float normal0 = normal_f32(p0, p1, (long long)(x0));  // normal
        b0[a0_off + x0] = normal0;
    }
}

