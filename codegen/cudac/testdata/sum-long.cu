// ==== sm_80 ====
// kernel rows outer=1 inner=1 "sum-long"
// variant: row-split 1(* 1) 1(1 0)
// device functions: quotient, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
row_split_sum_pass1(
    const float* __restrict__ b0,
    float* sum1_part,
    const idx rows,
    const idx blocks,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx records)
{

    // pass 1 of 2: sum1
    const int lane = (int)threadIdx.x % 32;
    const idx item = (idx)blockIdx.x * 8 + (idx)threadIdx.x / 32;
    const idx row = quotient(item, blocks), block = modulo(item, blocks);
    if (row >= rows) return;
    const idx x0 = row;
    float sum1_acc = 0.0f;
    const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
    #pragma unroll 4
    for (idx i = block * 1024 + lane; i < end; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        sum1_acc = (sum1_acc + load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum1_acc_other = shuffle_xor(sum1_acc, apart);
        sum1_acc = (sum1_acc + sum1_acc_other);
    }
    if (lane == 0) {
        sum1_part[row * records + block] = sum1_acc;
    }
}

extern "C" __global__ void __launch_bounds__(128)
row_split_sum_join1(
    float* sum1_part,
    float* b1,
    const idx records,
    const idx blocks,
    const idx root,
    const idx a1_off)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const idx row = (idx)blockIdx.x;
    // the blocks' results are joined pairwise, neighbours first, 32 by a warp, level by level
    for (idx width = blocks, level = 0; width > 1;) {
        for (idx group = warp; group * 32 < width; group += 4) {
            const idx j = group * 32 + lane;
            float sum1_acc = 0.0f;
            if (j < width) {
                sum1_acc = sum1_part[row * records + level + j];
            }
            #pragma unroll 1
            for (int apart = 1; apart < 32; apart *= 2) {
                const float sum1_acc_next = shuffle_down(sum1_acc, apart);
                if (j + apart < width) {
                    sum1_acc = (sum1_acc + sum1_acc_next);
                }
            }
            if (lane == 0) {
                sum1_part[row * records + level + width + group] = sum1_acc;
            }
        }
        __syncthreads();
        level += width;
        width = (width + 31) / 32;
    }
    const idx x0 = row;
    if (threadIdx.x == 0) {
        const float sum1 = sum1_part[row * records + root];  // reduce sum
        b1[a1_off + x0] = sum1;
    }
}

// ==== sm_80 ====
// kernel rows outer=1 inner=1 "sum-long"
// variant: row-block tile=[16 16384] 1(* 1) 1(1 0)
// device functions: shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(512)
row_block_sum(
    const float* __restrict__ b0,
    float* b1,
    const idx records,
    const idx blocks,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx root,
    const idx a1_off)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const idx row = (idx)blockIdx.x;
    const idx x0 = row;
    extern __shared__ double memory[];
    float* const sum1_part = (float*)(memory);

    // pass 1 of 2: sum1
    for (idx block = warp; block < blocks; block += 16) {
        float sum1_acc = 0.0f;
        const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
        #pragma unroll 4
        for (idx i = block * 1024 + lane; i < end; i += 32) {
            const idx y0 = i;
            const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
            sum1_acc = (sum1_acc + load0);
        }
        #pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
            const float sum1_acc_other = shuffle_xor(sum1_acc, apart);
            sum1_acc = (sum1_acc + sum1_acc_other);
        }
        if (lane == 0) {
            sum1_part[block] = sum1_acc;
        }
    }
    __syncthreads();
    // the blocks' results are joined pairwise, neighbours first, 32 by a warp, level by level
    for (idx width = blocks, level = 0; width > 1;) {
        for (idx group = warp; group * 32 < width; group += 16) {
            const idx j = group * 32 + lane;
            float sum1_acc = 0.0f;
            if (j < width) {
                sum1_acc = sum1_part[level + j];
            }
            #pragma unroll 1
            for (int apart = 1; apart < 32; apart *= 2) {
                const float sum1_acc_next = shuffle_down(sum1_acc, apart);
                if (j + apart < width) {
                    sum1_acc = (sum1_acc + sum1_acc_next);
                }
            }
            if (lane == 0) {
                sum1_part[level + width + group] = sum1_acc;
            }
        }
        __syncthreads();
        level += width;
        width = (width + 31) / 32;
    }
    const float sum1 = sum1_part[root];  // reduce sum

    if (threadIdx.x == 0) {
        b1[a1_off + x0] = sum1;
    }
}

