// ==== sm_80 ====
// kernel rows outer=1 inner=1 "norm-of-difference"
// variant: row-warp tile=[32 0] 1(* 0 1) 1(1 1 0)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_sub_mul_sum_sqrt(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    float* b2,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a2_off)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;

    // pass 1 of 2: sum4
    float sum4_acc = 0.0f;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        const float load1 = b1[a1_off + y0];  // load a1
        const float sub2 = (load0 - load1);  // sub
        const float mul3 = (sub2 * sub2);  // mul
        sum4_acc = (sum4_acc + mul3);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum4_acc_other = shuffle_xor(sum4_acc, apart);
        sum4_acc = (sum4_acc + sum4_acc_other);
    }
    const float sum4 = sum4_acc;  // reduce sum

    const float sqrt5 = __fsqrt_rn(sum4);  // sqrt
    if (lane == 0) {
        b2[a2_off + x0] = sqrt5;
    }
}

