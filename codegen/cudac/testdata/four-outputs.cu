// ==== sm_80 ====
// kernel map outer=1 inner=0 "four-outputs"
// variant: map vector=4 1(1 1 1 1 1 1)
// device functions: f16_to_f32, f32_to_f16, f32_to_i32

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

struct alignas(8) f16_x4 { unsigned short e[4]; };    // 4 f16 at once

struct alignas(4) bool_x4 { unsigned char e[4]; };    // 4 bool at once

struct alignas(16) i32_x4 { int e[4]; };    // 4 i32 at once

extern "C" __global__ void __launch_bounds__(256)
map_add_mul_less_mul(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    float* b2,
    unsigned short* b3,
    unsigned char* b4,
    int* b5,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off,
    const idx a3_off,
    const idx a4_off,
    const idx a5_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i * 4;
        const f32_x4 a0_v = *(const f32_x4*)(b0 + (a0_off + x0));
        const f32_x4 a1_v = *(const f32_x4*)(b1 + (a1_off + x0));
        f32_x4 s0_v;
        f16_x4 s1_v;
        bool_x4 s2_v;
        i32_x4 s3_v;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const float load0 = a0_v.e[j];  // load a0
            const float load1 = a1_v.e[j];  // load a1
            const float add2 = (load0 + load1);  // add
            const float mul3 = (add2 * load1);  // mul
            const float cast4 = f16_to_f32(f32_to_f16(mul3));  // cast f32 to f16
            const bool less5 = (load0 < load1);  // less
            const float constant6 = 100.0f;  // const
            const float mul7 = (load0 * constant6);  // mul
            const int cast8 = f32_to_i32(mul7);  // cast f32 to i32
            s0_v.e[j] = add2;
            s1_v.e[j] = f32_to_f16(cast4);
            s2_v.e[j] = (unsigned char)less5;
            s3_v.e[j] = cast8;
        }
        *(f32_x4*)(b2 + (a2_off + x0)) = s0_v;
        *(f16_x4*)(b3 + (a3_off + x0)) = s1_v;
        *(bool_x4*)(b4 + (a4_off + x0)) = s2_v;
        *(i32_x4*)(b5 + (a5_off + x0)) = s3_v;
    }
}

// ==== sm_80 ====
// kernel map outer=1 inner=0 "four-outputs"
// variant: map 1(1 1 1 1 1 1)
// device functions: f16_to_f32, f32_to_f16, f32_to_i32

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
map_add_mul_less_mul(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    float* b2,
    unsigned short* b3,
    unsigned char* b4,
    int* b5,
    const idx n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off,
    const idx a3_off,
    const idx a4_off,
    const idx a5_off)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx x0 = i;
        const float load0 = b0[a0_off + x0];  // load a0
        const float load1 = b1[a1_off + x0];  // load a1
        const float add2 = (load0 + load1);  // add
        const float mul3 = (add2 * load1);  // mul
        const float cast4 = f16_to_f32(f32_to_f16(mul3));  // cast f32 to f16
        const bool less5 = (load0 < load1);  // less
        const float constant6 = 100.0f;  // const
        const float mul7 = (load0 * constant6);  // mul
        const int cast8 = f32_to_i32(mul7);  // cast f32 to i32
        b2[a2_off + x0] = add2;
        b3[a3_off + x0] = f32_to_f16(cast4);
        b4[a4_off + x0] = (unsigned char)less5;
        b5[a5_off + x0] = cast8;
    }
}

