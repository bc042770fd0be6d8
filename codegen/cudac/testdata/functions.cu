// ==== sm_80 ====
// kernel map outer=1 inner=0 "functions"
// variant: map vector=4 1(1 1)
// device functions: exp_f32, sin_f32, tanh_f32

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256)
map_exp_sin_mul_tanh(
    const float* __restrict__ b0,
    float* b1,
    const idx n,
    const idx a0_off,
    const idx a1_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 4;
        const f32_x4 a0_v = *(const f32_x4*)(b0 + (a0_off + x0));
        f32_x4 s0_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const float load0 = a0_v.e[j];  // load a0
            const float exp1 = exp_f32(load0);  // exp
            const float sin2 = sin_f32(load0);  // sin
            const float mul3 = (exp1 * sin2);  // mul
            const float tanh4 = tanh_f32(mul3);  // tanh
            const float abs5 = fabsf(load0);  // abs
            const float sqrt6 = __fsqrt_rn(abs5);  // sqrt
            const float add7 = (tanh4 + sqrt6);  // add
            s0_v.e[j] = add7;
        }
        *(f32_x4*)(b1 + (a1_off + x0)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=1 inner=0 "functions"
// variant: map 1(1 1)
// device functions: exp_f32, sin_f32, tanh_f32

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_exp_sin_mul_tanh(
    const float* __restrict__ b0,
    float* b1,
    const idx n,
    const idx a0_off,
    const idx a1_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const float load0 = b0[a0_off + x0];  // load a0
        const float exp1 = exp_f32(load0);  // exp
        const float sin2 = sin_f32(load0);  // sin
        const float mul3 = (exp1 * sin2);  // mul
        const float tanh4 = tanh_f32(mul3);  // tanh
        const float abs5 = fabsf(load0);  // abs
        const float sqrt6 = __fsqrt_rn(abs5);  // sqrt
        const float add7 = (tanh4 + sqrt6);  // add
        b1[a1_off + x0] = add7;
    }
}

