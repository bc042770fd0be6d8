// ==== sm_80 ====
// kernel rows outer=1 inner=1 "argmax"
// variant: row-warp tile=[32 0] 1(* 1) 1(1 0)
// device functions: shuffle, take_greater

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_argmax(
    const float* __restrict__ b0,
    long long* b1,
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

    // pass 1 of 2: argmax1
    float argmax1_acc = __int_as_float(0xff800000);
    idx argmax1_acc_at = n;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        take_greater(argmax1_acc, argmax1_acc_at, load0, i);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float argmax1_acc_other = shuffle_xor(argmax1_acc, apart);
        const idx argmax1_acc_at_other = shuffle_xor(argmax1_acc_at, apart);
        take_greater(argmax1_acc, argmax1_acc_at, argmax1_acc_other, argmax1_acc_at_other);
    }
    const long long argmax1 = (long long)argmax1_acc_at;  // reduce argmax

    if (lane == 0) {
        b1[a1_off + x0] = argmax1;
    }
}

