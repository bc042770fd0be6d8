// ==== sm_80 ====
// kernel rows outer=1 inner=1 "softmax-masked-bf16"
// variant: row-warp-shared tile=[32] 1(* 0 *) 1(1 1 1)
// device functions: bf16_to_f32, exp_f32, f32_to_bf16, max_f32, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_shared_mul_where_max_sub(
    const unsigned short* __restrict__ b0,
    const unsigned char* __restrict__ b1,
    unsigned short* b2,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a2_off,
    const idx a2_x0)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;
    extern __shared__ double memory[];
    float* const kept0_rows = (float*)(memory);
    float* const kept0 = kept0_rows + (idx)threadIdx.x / 32 * n;

    // pass 1 of 3: max7
    float max7_acc = __int_as_float(0xff800000);
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = bf16_to_f32(b0[a0_off + x0 * a0_x0 + y0]);  // load a0
        const float constant1 = 0.125f;  // const
        const float mul2 = (load0 * constant1);  // mul
        const bool load3 = ((b1[a1_off + y0]) != 0);  // load a1
        const float cast4 = bf16_to_f32(f32_to_bf16(mul2));  // cast f32 to bf16
        const float constant5 = __int_as_float(0xff800000);  // const
        const float where6 = (load3 ? cast4 : constant5);  // where
        kept0[i] = where6;
        max7_acc = max_f32(max7_acc, where6);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float max7_acc_other = shuffle_xor(max7_acc, apart);
        max7_acc = max_f32(max7_acc, max7_acc_other);
    }
    const float max7 = max7_acc;  // reduce max

    // pass 2 of 3: sum10
    float sum10_acc = 0.0f;
    #pragma unroll 2
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float where6 = kept0[i];  // kept
        const float sub8 = (where6 - max7);  // sub
        const float exp9 = exp_f32(sub8);  // exp
        kept0[i] = exp9;
        sum10_acc = (sum10_acc + exp9);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum10_acc_other = shuffle_xor(sum10_acc, apart);
        sum10_acc = (sum10_acc + sum10_acc_other);
    }
    const float sum10 = sum10_acc;  // reduce sum

    // pass 3 of 3: a2
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float exp9 = kept0[i];  // kept
        const float div11 = (exp9 / sum10);  // div
        const float cast12 = bf16_to_f32(f32_to_bf16(div11));  // cast f32 to bf16
        b2[a2_off + x0 * a2_x0 + y0] = (unsigned short)(__float_as_uint(cast12) >> 16);
    }
}

// ==== sm_80 ====
// kernel rows outer=1 inner=1 "softmax-masked-bf16"
// variant: row-warp tile=[32 0] 1(* 0 *) 1(1 1 1)
// device functions: bf16_to_f32, exp_f32, f32_to_bf16, max_f32, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_mul_where_max_sub(
    const unsigned short* __restrict__ b0,
    const unsigned char* __restrict__ b1,
    unsigned short* b2,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a2_off,
    const idx a2_x0)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;

    // pass 1 of 3: max7
    float max7_acc = __int_as_float(0xff800000);
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = bf16_to_f32(b0[a0_off + x0 * a0_x0 + y0]);  // load a0
        const float constant1 = 0.125f;  // const
        const float mul2 = (load0 * constant1);  // mul
        const bool load3 = ((b1[a1_off + y0]) != 0);  // load a1
        const float cast4 = bf16_to_f32(f32_to_bf16(mul2));  // cast f32 to bf16
        const float constant5 = __int_as_float(0xff800000);  // const
        const float where6 = (load3 ? cast4 : constant5);  // where
        max7_acc = max_f32(max7_acc, where6);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float max7_acc_other = shuffle_xor(max7_acc, apart);
        max7_acc = max_f32(max7_acc, max7_acc_other);
    }
    const float max7 = max7_acc;  // reduce max

    // pass 2 of 3: sum10
    float sum10_acc = 0.0f;
    #pragma unroll 2
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = bf16_to_f32(b0[a0_off + x0 * a0_x0 + y0]);  // load a0
        const float constant1 = 0.125f;  // const
        const float mul2 = (load0 * constant1);  // mul
        const bool load3 = ((b1[a1_off + y0]) != 0);  // load a1
        const float cast4 = bf16_to_f32(f32_to_bf16(mul2));  // cast f32 to bf16
        const float constant5 = __int_as_float(0xff800000);  // const
        const float where6 = (load3 ? cast4 : constant5);  // where
        const float sub8 = (where6 - max7);  // sub
        const float exp9 = exp_f32(sub8);  // exp
        sum10_acc = (sum10_acc + exp9);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum10_acc_other = shuffle_xor(sum10_acc, apart);
        sum10_acc = (sum10_acc + sum10_acc_other);
    }
    const float sum10 = sum10_acc;  // reduce sum

    // pass 3 of 3: a2
    #pragma unroll 2
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = bf16_to_f32(b0[a0_off + x0 * a0_x0 + y0]);  // load a0
        const float constant1 = 0.125f;  // const
        const float mul2 = (load0 * constant1);  // mul
        const bool load3 = ((b1[a1_off + y0]) != 0);  // load a1
        const float cast4 = bf16_to_f32(f32_to_bf16(mul2));  // cast f32 to bf16
        const float constant5 = __int_as_float(0xff800000);  // const
        const float where6 = (load3 ? cast4 : constant5);  // where
        const float sub8 = (where6 - max7);  // sub
        const float exp9 = exp_f32(sub8);  // exp
        const float div11 = (exp9 / sum10);  // div
        const float cast12 = bf16_to_f32(f32_to_bf16(div11));  // cast f32 to bf16
        b2[a2_off + x0 * a2_x0 + y0] = (unsigned short)(__float_as_uint(cast12) >> 16);
    }
}

