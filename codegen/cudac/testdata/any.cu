// ==== sm_80 ====
// kernel rows outer=1 inner=1 "any"
// variant: row-warp tile=[32 0] 1(* 1) 1(1 0)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_isnan_any(
    const float* __restrict__ b0,
    unsigned char* b1,
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

    // pass 1 of 2: any2
    bool any2_acc = false;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        const bool isnan1 = (load0 != load0);  // isnan
        any2_acc = (any2_acc || isnan1);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const bool any2_acc_other = shuffle_xor(any2_acc, apart);
        any2_acc = (any2_acc || any2_acc_other);
    }
    const bool any2 = any2_acc;  // reduce any

    if (lane == 0) {
        b1[a1_off + x0] = (unsigned char)any2;
    }
}

