// ==== sm_80 ====
// kernel scatter outer=2 inner=0 "scatter-max"
// variant: scatter-atomic 1(1 * 0) 1(0 1 1)
// device functions: in_range, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
scatter_atomic(
    const long long* __restrict__ b0,
    const int* __restrict__ b1,
    int* b2,
    unsigned long long* fault,
    const idx n,
    const idx columns,
    const idx a0_off,
    const idx a1_off,
    const idx a1_r0,
    const idx a2_n0,
    const idx a2_off,
    const idx a2_i0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx row = quotient(i, columns), column = modulo(i, columns);
        const idx r0 = row;
        const idx c0 = column;
        const long long load0 = b0[a0_off + r0];  // load a0
        const int load1 = b1[a1_off + r0 * a1_r0 + c0];  // load a1
        if (in_range(load0, a2_n0, fault)) atomicMax(b2 + (a2_off + c0 + (idx)load0 * a2_i0), load1);
    }
}

// ==== sm_80 ====
// kernel scatter outer=2 inner=0 "scatter-max"
// variant: scatter-one 1(1 * 0) 1(0 1 1)
// device functions: in_range, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
scatter_one(
    int* b2,
    const long long* __restrict__ b0,
    unsigned long long* fault,
    const int* __restrict__ b1,
    const idx b2_places,
    const idx b2_lo,
    const idx b2_step,
    const idx n,
    const idx columns,
    const idx a0_off,
    const idx a2_n0,
    const idx a2_off,
    const idx a2_i0,
    const idx a1_off,
    const idx a1_r0)
{
    #pragma unroll 1
    for (idx own = (idx)blockIdx.x * 256 + (idx)threadIdx.x; own < b2_places; own += (idx)gridDim.x * 256) {
        const idx mine = b2_lo + own * b2_step;
        int now = 0;
        bool written = false;
        #pragma unroll 1
        for (idx i = 0; i < n; i++) {
            const idx row = quotient(i, columns), column = modulo(i, columns);
            const idx r0 = row;
            const idx c0 = column;
            const long long load0 = b0[a0_off + r0];  // load a0
            if (in_range(load0, a2_n0, fault) && a2_off + c0 + (idx)load0 * a2_i0 == mine) {
                const int load1 = b1[a1_off + r0 * a1_r0 + c0];  // load a1
                if (!written) now = b2[mine];
                now = (now > load1 ? now : load1);
                written = true;
            }
        }
        if (written) b2[mine] = now;
    }
}

