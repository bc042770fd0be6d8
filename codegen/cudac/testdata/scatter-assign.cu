// ==== sm_80 ====
// kernel scatter outer=2 inner=0 "scatter-assign"
// variant: scatter-last 1(1 * 0) 1(0 1 1)
// device functions: in_range, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
scatter_clear(
    idx* last,
    const idx keys)
{
    #pragma unroll 1
    for (idx key = (idx)blockIdx.x * 256 + (idx)threadIdx.x; key < keys; key += (idx)gridDim.x * 256) {
        last[key] = -1;
    }
}

extern "C" __global__ void __launch_bounds__(256)
scatter_last(
    const long long* __restrict__ b0,
    unsigned long long* fault,
    idx* last,
    idx* key_of,
    const idx rows,
    const idx a0_off,
    const idx a2_n0,
    const idx a2_off,
    const idx a2_i0,
    const idx lo,
    const idx step)
{
    #pragma unroll 1
    for (idx row = (idx)blockIdx.x * 256 + (idx)threadIdx.x; row < rows; row += (idx)gridDim.x * 256) {
        const idx r0 = row;
        const long long load0 = b0[a0_off + r0];  // load a0
        idx key = -1;
        if (in_range(load0, a2_n0, fault)) {
            key = quotient(a2_off + (idx)load0 * a2_i0 - lo, step);
            atomicMax(&last[key], row);
        }
        key_of[row] = key;
    }
}

extern "C" __global__ void __launch_bounds__(256)
scatter_store(
    const float* __restrict__ b1,
    idx* key_of,
    idx* last,
    float* b2,
    const idx n,
    const idx columns,
    const idx a1_off,
    const idx a1_r0,
    const idx lo,
    const idx step)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < n; i += (idx)gridDim.x * 256) {
        const idx row = quotient(i, columns), column = modulo(i, columns);
        const idx r0 = row;
        const idx c0 = column;
        const float load1 = b1[a1_off + r0 * a1_r0 + c0];  // load a1
        const idx key = key_of[row];
        if (key >= 0 && last[key] == row) {
            const idx place = lo + key * step + c0;
            b2[place] = load1;
        }
    }
}

// ==== sm_80 ====
// kernel scatter outer=2 inner=0 "scatter-assign"
// variant: scatter-one 1(1 * 0) 1(0 1 1)
// device functions: in_range, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
scatter_one(
    float* b2,
    const long long* __restrict__ b0,
    unsigned long long* fault,
    const float* __restrict__ b1,
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
        float now = 0.0f;
        bool written = false;
        #pragma unroll 1
        for (idx i = 0; i < n; i++) {
            const idx row = quotient(i, columns), column = modulo(i, columns);
            const idx r0 = row;
            const idx c0 = column;
            const long long load0 = b0[a0_off + r0];  // load a0
            if (in_range(load0, a2_n0, fault) && a2_off + c0 + (idx)load0 * a2_i0 == mine) {
                const float load1 = b1[a1_off + r0 * a1_r0 + c0];  // load a1
                now = load1;
                written = true;
            }
        }
        if (written) b2[mine] = now;
    }
}

