// ==== sm_80 ====
// kernel rows outer=1 inner=1 "sum-integers"
// variant: row-warp tile=[32 0] 1(* 1) 1(1 0)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_sum(
    const int* __restrict__ b0,
    int* b1,
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

    // pass 1 of 2: sum2
    long long sum2_acc = 0ll;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const int load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        const long long cast1 = (long long)load0;  // cast i32 to i64
        sum2_acc = ((long long)((unsigned long long)sum2_acc + (unsigned long long)cast1));
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const long long sum2_acc_other = shuffle_xor(sum2_acc, apart);
        sum2_acc = ((long long)((unsigned long long)sum2_acc + (unsigned long long)sum2_acc_other));
    }
    const long long sum2 = sum2_acc;  // reduce sum

    const int cast3 = (int)sum2;  // cast i64 to i32
    if (lane == 0) {
        b1[a1_off + x0] = cast3;
    }
}

