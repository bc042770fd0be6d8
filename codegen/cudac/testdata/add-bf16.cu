// ==== sm_80 ====
// kernel map outer=2 inner=0 "add-bf16"
// variant: map vector=8 1(1 1 1)
// device functions: bf16_to_f32, f32_to_bf16

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) bf16_x8 { unsigned short e[8]; };    // 8 bf16 at once

extern "C" __global__ void __launch_bounds__(256)
map_add(
    const unsigned short* __restrict__ b0,
    const unsigned short* __restrict__ b1,
    unsigned short* b2,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 8;
        const bf16_x8 a0_v = *(const bf16_x8*)(b0 + (a0_off + x0));
        const bf16_x8 a1_v = *(const bf16_x8*)(b1 + (a1_off + x0));
        bf16_x8 s0_v;
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            const float load0 = bf16_to_f32(a0_v.e[j]);  // load a0
            const float load1 = bf16_to_f32(a1_v.e[j]);  // load a1
            const float add2 = (load0 + load1);  // add
            const float cast3 = bf16_to_f32(f32_to_bf16(add2));  // cast f32 to bf16
            s0_v.e[j] = (unsigned short)(__float_as_uint(cast3) >> 16);
        }
        *(bf16_x8*)(b2 + (a2_off + x0)) = s0_v;
    }
}

// ==== sm_80 ====
// kernel map outer=2 inner=0 "add-bf16"
// variant: map 1(1 1 1)
// device functions: bf16_to_f32, f32_to_bf16

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_add(
    const unsigned short* __restrict__ b0,
    const unsigned short* __restrict__ b1,
    unsigned short* b2,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const float load0 = bf16_to_f32(b0[a0_off + x0]);  // load a0
        const float load1 = bf16_to_f32(b1[a1_off + x0]);  // load a1
        const float add2 = (load0 + load1);  // add
        const float cast3 = bf16_to_f32(f32_to_bf16(add2));  // cast f32 to bf16
        b2[a2_off + x0] = (unsigned short)(__float_as_uint(cast3) >> 16);
    }
}

