// ==== sm_80 ====
// kernel rows outer=1 inner=1 "sum-columns"
// variant: column tile=[32 256] 1(1 1) 1(* 0)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(1024)
column_sum(
    const float* __restrict__ b0,
    float* b1,
    const idx records,
    const idx rows,
    const idx blocks,
    const idx n,
    const idx a0_off,
    const idx a0_y0,
    const idx root,
    const idx a1_off)
{
    extern __shared__ double memory[];
    float* const sum1_tile = (float*)(memory);
    float* const sum1_part = (float*)(sum1_tile + 1056);
    const int x = (int)threadIdx.x % 32, y = (int)threadIdx.x / 32;    // row of the tile and lane, reading
    const int tree_row = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;    // the same, joining lanes
    const idx own = (idx)blockIdx.x * 32 + x;
    const bool active = own < rows;
    const idx row = active ? own : rows - 1;
    const idx x0 = row;

    // pass 1 of 2: sum1
    #pragma unroll 1
    for (idx block = 0; block < blocks; block++) {
        float sum1_acc = 0.0f;
        const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
        #pragma unroll 4
        for (idx i = block * 1024 + y; i < end; i += 32) {
            const idx y0 = i;
            const float load0 = b0[a0_off + x0 + y0 * a0_y0];  // load a0
            sum1_acc = (sum1_acc + load0);
        }
        sum1_tile[y * 33 + x] = sum1_acc;
        __syncthreads();
        sum1_acc = sum1_tile[lane * 33 + tree_row];
        #pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
            const float sum1_acc_other = shuffle_xor(sum1_acc, apart);
            sum1_acc = (sum1_acc + sum1_acc_other);
        }
        if (lane == 0) {
            sum1_part[tree_row * records + block] = sum1_acc;
        }
        __syncthreads();
    }
    // the blocks' results are joined pairwise, neighbours first, 32 by a warp, level by level
    for (idx width = blocks, level = 0; width > 1;) {
        for (idx group = 0; group * 32 < width; group += 1) {
            const idx j = group * 32 + lane;
            float sum1_acc = 0.0f;
            if (j < width) {
                sum1_acc = sum1_part[tree_row * records + level + j];
            }
            #pragma unroll 1
            for (int apart = 1; apart < 32; apart *= 2) {
                const float sum1_acc_next = shuffle_down(sum1_acc, apart);
                if (j + apart < width) {
                    sum1_acc = (sum1_acc + sum1_acc_next);
                }
            }
            if (lane == 0) {
                sum1_part[tree_row * records + level + width + group] = sum1_acc;
            }
        }
        __syncwarp();
        level += width;
        width = (width + 31) / 32;
    }
    __syncthreads();
    const float sum1 = sum1_part[x * records + root];  // reduce sum

    if (active && y == 0) {
        b1[a1_off + x0] = sum1;
    }
}

// ==== sm_80 ====
// kernel rows outer=1 inner=1 "sum-columns"
// variant: row-warp tile=[32 0] 1(1 1) 1(* 0)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_sum(
    const float* __restrict__ b0,
    float* b1,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_y0,
    const idx a1_off)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;

    // pass 1 of 2: sum1
    float sum1_acc = 0.0f;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 + y0 * a0_y0];  // load a0
        sum1_acc = (sum1_acc + load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum1_acc_other = shuffle_xor(sum1_acc, apart);
        sum1_acc = (sum1_acc + sum1_acc_other);
    }
    const float sum1 = sum1_acc;  // reduce sum

    if (lane == 0) {
        b1[a1_off + x0] = sum1;
    }
}

