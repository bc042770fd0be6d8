// ==== sm_80 ====
// kernel map outer=1 inner=0 "cast-halves"
// variant: map vector=2 1(1 1 1 1)
// device functions: bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, odd_f64

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(4) f16_x2 { unsigned short e[2]; };    // 2 f16 at once

struct alignas(16) f64_x2 { double e[2]; };    // 2 f64 at once

struct alignas(4) bf16_x2 { unsigned short e[2]; };    // 2 bf16 at once

extern "C" __global__ void __launch_bounds__(256)
map(
    const unsigned short* __restrict__ b0,
    const double* __restrict__ b2,
    unsigned short* b1,
    unsigned short* b3,
    const idx n,
    const idx a0_off,
    const idx a2_off,
    const idx a1_off,
    const idx a3_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 2;
        const f16_x2 a0_v = *(const f16_x2*)(b0 + (a0_off + x0));
        const f64_x2 a2_v = *(const f64_x2*)(b2 + (a2_off + x0));
        bf16_x2 s0_v;
        f16_x2 s1_v;
        #pragma unroll
        for (int j = 0; j < 2; j++) {
            const float load0 = f16_to_f32(a0_v.e[j]);  // load a0
            const float cast1 = load0;  // cast f16 to f32
            const float cast2 = bf16_to_f32(f32_to_bf16(cast1));  // cast f32 to bf16
            const double load3 = a2_v.e[j];  // load a2
            const float cast4 = f16_to_f32(f32_to_f16(odd_f64(load3)));  // cast f64 to f16
            s0_v.e[j] = (unsigned short)(__float_as_uint(cast2) >> 16);
            s1_v.e[j] = f32_to_f16(cast4);
        }
        *(bf16_x2*)(b1 + (a1_off + x0)) = s0_v;
        *(f16_x2*)(b3 + (a3_off + x0)) = s1_v;
    }
}

// ==== sm_80 ====
// kernel map outer=1 inner=0 "cast-halves"
// variant: map 1(1 1 1 1)
// device functions: bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, odd_f64

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map(
    const unsigned short* __restrict__ b0,
    const double* __restrict__ b2,
    unsigned short* b1,
    unsigned short* b3,
    const idx n,
    const idx a0_off,
    const idx a2_off,
    const idx a1_off,
    const idx a3_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const float load0 = f16_to_f32(b0[a0_off + x0]);  // load a0
        const float cast1 = load0;  // cast f16 to f32
        const float cast2 = bf16_to_f32(f32_to_bf16(cast1));  // cast f32 to bf16
        const double load3 = b2[a2_off + x0];  // load a2
        const float cast4 = f16_to_f32(f32_to_f16(odd_f64(load3)));  // cast f64 to f16
        b1[a1_off + x0] = (unsigned short)(__float_as_uint(cast2) >> 16);
        b3[a3_off + x0] = f32_to_f16(cast4);
    }
}

