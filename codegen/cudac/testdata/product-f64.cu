// ==== sm_80 ====
// kernel rows outer=1 inner=1 "product-f64"
// variant: row-warp tile=[32 0] 1(* 1) 1(1 0)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_prod(
    const double* __restrict__ b0,
    double* b1,
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

    // pass 1 of 2: prod1
    double prod1_acc = 1.0;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const double load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        prod1_acc = (prod1_acc * load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const double prod1_acc_other = shuffle_xor(prod1_acc, apart);
        prod1_acc = (prod1_acc * prod1_acc_other);
    }
    const double prod1 = prod1_acc;  // reduce prod

    if (lane == 0) {
        b1[a1_off + x0] = prod1;
    }
}

