// ==== sm_80 ====
// kernel map outer=2 inner=0 "gather"
// variant: map vector=4 2(10 01 *1)
// device functions: in_range, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map(
    const long long* __restrict__ b0,
    const float* __restrict__ b1,
    unsigned long long* fault,
    float* b2,
    const idx n,
    const idx x_groups,
    const idx a0_off,
    const idx a1_off,
    const idx a1_i0,
    const idx a1_n0,
    const idx a2_off,
    const idx a2_x0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x1 = modulo(i, x_groups) * 4;
        const idx x0 = quotient(i, x_groups);
        f32_x4 s0_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const long long load0 = b0[a0_off + x0];  // load a0
            const float load1 = in_range(load0, a1_n0, fault) ? b1[a1_off + (x1 + j) + (idx)load0 * a1_i0] : 0.0f;  // load a1
            s0_v.e[j] = load1;
        }
        *(f32_x4*)(b2 + (a2_off + x0 * a2_x0 + x1)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=2 inner=0 "gather"
// variant: map 2(10 01 *1)
// device functions: in_range, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map(
    const long long* __restrict__ b0,
    const float* __restrict__ b1,
    unsigned long long* fault,
    float* b2,
    const idx n,
    const idx x_d1,
    const idx a0_off,
    const idx a1_off,
    const idx a1_i0,
    const idx a1_n0,
    const idx a2_off,
    const idx a2_x0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x1 = modulo(i, x_d1);
        const idx x0 = quotient(i, x_d1);
        const long long load0 = b0[a0_off + x0];  // load a0
        const float load1 = in_range(load0, a1_n0, fault) ? b1[a1_off + x1 + (idx)load0 * a1_i0] : 0.0f;  // load a1
        b2[a2_off + x0 * a2_x0 + x1] = load1;
    }
}

