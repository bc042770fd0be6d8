// ==== sm_80 ====
// kernel rows outer=1 inner=1 "max-f16"
// variant: row-warp tile=[32 0] 1(* 1) 1(1 0)
// device functions: f16_to_f32, f32_to_f16, max_f32, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_max(
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

    // pass 1 of 2: max1
    float max1_acc = __int_as_float(0xff800000);
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = f16_to_f32(b0[a0_off + x0 * a0_x0 + y0]);  // load a0
        max1_acc = max_f32(max1_acc, load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float max1_acc_other = shuffle_xor(max1_acc, apart);
        max1_acc = max_f32(max1_acc, max1_acc_other);
    }
    const float max1 = max1_acc;  // reduce max

    if (lane == 0) {
        b1[a1_off + x0] = f32_to_f16(max1);
    }
}

