// ==== sm_80 ====
// kernel sort outer=1 inner=1 "sort"
// variant: sort-block tile=[1 256 512] 1(* *) 1(1 1)
// device functions: exchange_pairs, order_float, shuffle, sort_pairs

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
sort_block(
    const float* __restrict__ b0,
    float* b1,
    const idx n,
    const idx padded,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a1_x0)
{
    const int thread = (int)threadIdx.x, start = 0;
    const idx row = (idx)blockIdx.x;
    const idx x0 = row;
    extern __shared__ double memory[];
    int* const order0_rows = (int*)(memory);
    float* const values0_rows = (float*)(order0_rows + 1 * padded);
    unsigned int* const keys = (unsigned int*)(values0_rows + 1 * padded);

    // load0 is ordered; the rest of the array comes after it
    unsigned int* const keys0 = (unsigned int*)keys + start;
    int* const order0 = order0_rows + start;
    float* const values0 = values0_rows + start;
    #pragma unroll 1
    for (int i = thread; i < padded; i += 256) {
        order0[i] = i;
        keys0[i] = (unsigned int)-1;
        if (i < n) {
            const idx y0 = i;
            const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
            keys0[i] = order_of(load0);
            values0[i] = load0;
        }
    }
    __syncthreads();
    sort_pairs(keys0, order0, (int)padded, thread, 256);

    #pragma unroll 1
    for (int i = thread; i < n; i += 256) {
        const idx y0 = i;
        const float sort1 = values0[order0[i]];  // sort
        b1[a1_off + x0 * a1_x0 + y0] = sort1;
    }
}

