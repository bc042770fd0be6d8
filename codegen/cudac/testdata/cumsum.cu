// ==== sm_80 ====
// kernel scan outer=1 inner=1 "cumsum"
// variant: scan-warp tile=[32] 1(* *) 1(1 1)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
scan_warp_sum(
    const float* __restrict__ b0,
    float* b1,
    const idx n,
    const idx rows,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a1_x0)
{
    const int nth = (int)threadIdx.x % 32;    // the element of each turn that is the thread's
    const idx own = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    const bool active = own < rows;
    const idx row = active ? own : rows - 1;
    const idx x0 = row;
    float sum1_run = 0.0f;
    #pragma unroll 1
    for (idx turn = 0; turn < n; turn += 32) {
        const bool exists = turn + nth < n;
        const idx step = exists ? turn + nth : n - 1;    // past the end: the last once more
        const idx i = step;
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        float sum1 = 0.0f;  // scan sum
        #pragma unroll
        for (int j = 0; j < 32; j++) {
            const float other = shuffle_from(load0, j, 32);
            const float next = (sum1_run + other);
            if (nth == j) sum1 = next;
            sum1_run = next;
        }
        if (exists && active) {
            b1[a1_off + x0 * a1_x0 + y0] = sum1;
        }
    }
}

