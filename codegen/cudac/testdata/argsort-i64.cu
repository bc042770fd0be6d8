// ==== sm_80 ====
// kernel sort outer=1 inner=1 "argsort-i64"
// variant: sort-block tile=[1 256 512] 1(* *) 1(1 1)
// device functions: exchange_pairs, shuffle, sort_pairs

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
sort_block(
    const long long* __restrict__ b0,
    long long* b1,
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
    unsigned long long* const keys = (unsigned long long*)(memory);
    int* const order0_rows = (int*)(keys + 1 * padded);

    // load0 is ordered; the rest of the array comes after it
    unsigned long long* const keys0 = (unsigned long long*)keys + start;
    int* const order0 = order0_rows + start;
    #pragma unroll 1
    for (int i = thread; i < padded; i += 256) {
        order0[i] = i;
        keys0[i] = (unsigned long long)-1;
        if (i < n) {
            const idx y0 = i;
            const long long load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
            keys0[i] = ~((unsigned long long)load0 ^ 0x8000000000000000ull);
        }
    }
    __syncthreads();
    sort_pairs(keys0, order0, (int)padded, thread, 256);

    #pragma unroll 1
    for (int i = thread; i < n; i += 256) {
        const idx y0 = i;
        const long long sort1 = (long long)order0[i];  // sort
        b1[a1_off + x0 * a1_x0 + y0] = sort1;
    }
}

