// ==== sm_80 ====
// kernel scan outer=1 inner=1 "cummax-columns"
// variant: scan-warp tile=[32] 1(1 1) 1(* *)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
scan_warp_max(
    const int* __restrict__ b0,
    int* b1,
    const idx n,
    const idx rows,
    const idx a0_off,
    const idx a0_y0,
    const idx a1_off,
    const idx a1_y0)
{
    const int nth = (int)threadIdx.x % 32;    // the element of each turn that is the thread's
    const idx own = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    const bool active = own < rows;
    const idx row = active ? own : rows - 1;
    const idx x0 = row;
    int max1_run = (-2147483647 - 1);
    #pragma unroll 1
    for (idx turn = 0; turn < n; turn += 32) {
        const bool exists = turn + nth < n;
        const idx step = exists ? turn + nth : n - 1;    // past the end: the last once more
        const idx i = step;
        const idx y0 = i;
        const int load0 = b0[a0_off + x0 + y0 * a0_y0];  // load a0
        int max1_with = load0;
        #pragma unroll
        for (int apart = 1; apart < 32; apart *= 2) {
            const int before = shuffle_up(max1_with, apart, 32);
            if (nth >= apart) max1_with = (before > max1_with ? before : max1_with);
        }
        max1_with = (max1_run > max1_with ? max1_run : max1_with);
        const int max1 = max1_with;  // scan max
        max1_run = shuffle_from(max1_with, 31, 32);
        if (exists && active) {
            b1[a1_off + x0 + y0 * a1_y0] = max1;
        }
    }
}

