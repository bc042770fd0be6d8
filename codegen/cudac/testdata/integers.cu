// ==== sm_80 ====
// kernel map outer=1 inner=0 "integers"
// variant: map vector=2 1(1 1 1 1 1 1)
// device functions: floordiv_int, remainder_int, shr_int

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(8) i32_x2 { int e[2]; };    // 2 i32 at once

struct alignas(16) u64_x2 { unsigned long long e[2]; };    // 2 u64 at once

extern "C" __global__ void __launch_bounds__(256)
map_floordiv_remainder_shr_bitxor(
    const int* __restrict__ b0,
    const int* __restrict__ b1,
    const unsigned long long* __restrict__ b3,
    const unsigned long long* __restrict__ b4,
    int* b2,
    unsigned long long* b5,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a3_off,
    const idx a4_off,
    const idx a2_off,
    const idx a5_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 2;
        const i32_x2 a0_v = *(const i32_x2*)(b0 + (a0_off + x0));
        const i32_x2 a1_v = *(const i32_x2*)(b1 + (a1_off + x0));
        const u64_x2 a3_v = *(const u64_x2*)(b3 + (a3_off + x0));
        const u64_x2 a4_v = *(const u64_x2*)(b4 + (a4_off + x0));
        i32_x2 s0_v;
        u64_x2 s1_v;
        #pragma unroll
        for (int j = 0; j < 2; j++) {
            const int load0 = a0_v.e[j];  // load a0
            const int load1 = a1_v.e[j];  // load a1
            const int floordiv2 = floordiv_int(load0, load1);  // floordiv
            const int remainder3 = remainder_int(load0, load1);  // remainder
            const int shr4 = shr_int(floordiv2, load1);  // shr
            const int bitxor5 = ((int)(remainder3 ^ shr4));  // bitxor
            const unsigned long long load6 = a3_v.e[j];  // load a3
            const unsigned long long load7 = a4_v.e[j];  // load a4
            const unsigned long long mul8 = ((unsigned long long)((unsigned long long)load6 * (unsigned long long)load7));  // mul
            s0_v.e[j] = bitxor5;
            s1_v.e[j] = mul8;
        }
        *(i32_x2*)(b2 + (a2_off + x0)) = s0_v;
        *(u64_x2*)(b5 + (a5_off + x0)) = s1_v;
    }
}

// ==== sm_80 ====
// kernel map outer=1 inner=0 "integers"
// variant: map 1(1 1 1 1 1 1)
// device functions: floordiv_int, remainder_int, shr_int

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_floordiv_remainder_shr_bitxor(
    const int* __restrict__ b0,
    const int* __restrict__ b1,
    const unsigned long long* __restrict__ b3,
    const unsigned long long* __restrict__ b4,
    int* b2,
    unsigned long long* b5,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a3_off,
    const idx a4_off,
    const idx a2_off,
    const idx a5_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const int load0 = b0[a0_off + x0];  // load a0
        const int load1 = b1[a1_off + x0];  // load a1
        const int floordiv2 = floordiv_int(load0, load1);  // floordiv
        const int remainder3 = remainder_int(load0, load1);  // remainder
        const int shr4 = shr_int(floordiv2, load1);  // shr
        const int bitxor5 = ((int)(remainder3 ^ shr4));  // bitxor
        const unsigned long long load6 = b3[a3_off + x0];  // load a3
        const unsigned long long load7 = b4[a4_off + x0];  // load a4
        const unsigned long long mul8 = ((unsigned long long)((unsigned long long)load6 * (unsigned long long)load7));  // mul
        b2[a2_off + x0] = bitxor5;
        b5[a5_off + x0] = mul8;
    }
}

