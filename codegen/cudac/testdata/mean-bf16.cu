// ==== sm_80 ====
// kernel rows outer=1 inner=1 "mean-bf16"
// variant: row-warp tile=[32 0] 1(* 1) 1(1 0)
// device functions: bf16_to_f32, f32_to_bf16, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_sum_div(
    const unsigned short* __restrict__ b0,
    unsigned short* b1,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;

    // pass 1 of 2: sum1
    float sum1_acc = 0.0f;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = bf16_to_f32(b0[a0_off + x0 * a0_x0 + y0]);  // load a0
        sum1_acc = (sum1_acc + load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum1_acc_other = shuffle_xor(sum1_acc, apart);
        sum1_acc = (sum1_acc + sum1_acc_other);
    }
    const float sum1 = sum1_acc;  // reduce sum

    const float count2 = (float)((long long)n);  // count
    const float div3 = (sum1 / count2);  // div
    const float cast4 = bf16_to_f32(f32_to_bf16(div3));  // cast f32 to bf16
    if (lane == 0) {
        b1[a1_off + x0] = (unsigned short)(__float_as_uint(cast4) >> 16);
    }
}

