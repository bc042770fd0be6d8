// ==== sm_80 ====
// kernel rows outer=1 inner=1 "softmax-long"
// variant: row-split 1(* *) 1(1 1)
// device functions: exp_f32, max_f32, quotient, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
row_split_max_sub_exp_sum_pass1(
    const float* __restrict__ b0,
    float* max1_part,
    const idx rows,
    const idx blocks,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx records)
{

    // pass 1 of 3: max1
    const int lane = (int)threadIdx.x % 32;
    const idx item = (idx)blockIdx.x * 8 + (idx)threadIdx.x / 32;
    const idx row = quotient(item, blocks), block = modulo(item, blocks);
    if (row >= rows) return;
    const idx x0 = row;
    float max1_acc = __int_as_float(0xff800000);
    const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
    #pragma unroll 4
    for (idx i = block * 1024 + lane; i < end; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        max1_acc = max_f32(max1_acc, load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float max1_acc_other = shuffle_xor(max1_acc, apart);
        max1_acc = max_f32(max1_acc, max1_acc_other);
    }
    if (lane == 0) {
        max1_part[row * records + block] = max1_acc;
    }
}

extern "C" __global__ void __launch_bounds__(128)
row_split_max_sub_exp_sum_join1(
    float* max1_part,
    const idx records,
    const idx blocks)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const idx row = (idx)blockIdx.x;
    // the blocks' results are joined pairwise, neighbours first, 32 by a warp, level by level
    for (idx width = blocks, level = 0; width > 1;) {
        for (idx group = warp; group * 32 < width; group += 4) {
            const idx j = group * 32 + lane;
            float max1_acc = __int_as_float(0xff800000);
            if (j < width) {
                max1_acc = max1_part[row * records + level + j];
            }
            #pragma unroll 1
            for (int apart = 1; apart < 32; apart *= 2) {
                const float max1_acc_next = shuffle_down(max1_acc, apart);
                if (j + apart < width) {
                    max1_acc = max_f32(max1_acc, max1_acc_next);
                }
            }
            if (lane == 0) {
                max1_part[row * records + level + width + group] = max1_acc;
            }
        }
        __syncthreads();
        level += width;
        width = (width + 31) / 32;
    }
}

extern "C" __global__ void __launch_bounds__(256)
row_split_max_sub_exp_sum_pass2(
    float* max1_part,
    const float* __restrict__ b0,
    float* sum4_part,
    const idx rows,
    const idx blocks,
    const idx records,
    const idx root,
    const idx n,
    const idx a0_off,
    const idx a0_x0)
{

    // pass 2 of 3: sum4
    const int lane = (int)threadIdx.x % 32;
    const idx item = (idx)blockIdx.x * 8 + (idx)threadIdx.x / 32;
    const idx row = quotient(item, blocks), block = modulo(item, blocks);
    if (row >= rows) return;
    const idx x0 = row;
    const float max1 = max1_part[row * records + root];  // reduce max
    float sum4_acc = 0.0f;
    const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
    #pragma unroll 2
    for (idx i = block * 1024 + lane; i < end; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        const float sub2 = (load0 - max1);  // sub
        const float exp3 = exp_f32(sub2);  // exp
        sum4_acc = (sum4_acc + exp3);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum4_acc_other = shuffle_xor(sum4_acc, apart);
        sum4_acc = (sum4_acc + sum4_acc_other);
    }
    if (lane == 0) {
        sum4_part[row * records + block] = sum4_acc;
    }
}

extern "C" __global__ void __launch_bounds__(128)
row_split_max_sub_exp_sum_join2(
    float* sum4_part,
    const idx records,
    const idx blocks)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const idx row = (idx)blockIdx.x;
    // the blocks' results are joined pairwise, neighbours first, 32 by a warp, level by level
    for (idx width = blocks, level = 0; width > 1;) {
        for (idx group = warp; group * 32 < width; group += 4) {
            const idx j = group * 32 + lane;
            float sum4_acc = 0.0f;
            if (j < width) {
                sum4_acc = sum4_part[row * records + level + j];
            }
            #pragma unroll 1
            for (int apart = 1; apart < 32; apart *= 2) {
                const float sum4_acc_next = shuffle_down(sum4_acc, apart);
                if (j + apart < width) {
                    sum4_acc = (sum4_acc + sum4_acc_next);
                }
            }
            if (lane == 0) {
                sum4_part[row * records + level + width + group] = sum4_acc;
            }
        }
        __syncthreads();
        level += width;
        width = (width + 31) / 32;
    }
}

extern "C" __global__ void __launch_bounds__(256)
row_split_max_sub_exp_sum_pass3(
    float* max1_part,
    float* sum4_part,
    const float* __restrict__ b0,
    float* b1,
    const idx rows,
    const idx blocks,
    const idx records,
    const idx root,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a1_x0)
{

    // pass 3 of 3: a1
    const int lane = (int)threadIdx.x % 32;
    const idx item = (idx)blockIdx.x * 8 + (idx)threadIdx.x / 32;
    const idx row = quotient(item, blocks), block = modulo(item, blocks);
    if (row >= rows) return;
    const idx x0 = row;
    const float max1 = max1_part[row * records + root];  // reduce max
    const float sum4 = sum4_part[row * records + root];  // reduce sum
    const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
    #pragma unroll 2
    for (idx i = block * 1024 + lane; i < end; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        const float sub2 = (load0 - max1);  // sub
        const float exp3 = exp_f32(sub2);  // exp
        const float div5 = (exp3 / sum4);  // div
        b1[a1_off + x0 * a1_x0 + y0] = div5;
    }
}

// ==== sm_80 ====
// kernel rows outer=1 inner=1 "softmax-long"
// variant: row-long tile=[16 16384] 1(* *) 1(1 1)
// device functions: exp_f32, max_f32, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(512)
row_long_max_sub_exp_sum(
    const float* __restrict__ b0,
    float* b1,
    const idx records,
    const idx blocks,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx root,
    const idx a1_off,
    const idx a1_x0)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const idx row = (idx)blockIdx.x;
    const idx x0 = row;
    extern __shared__ double memory[];
    float* const max1_part = (float*)(memory);
    float* const sum4_part = (float*)(max1_part + 1 * records);

    // pass 1 of 3: max1
    for (idx block = warp; block < blocks; block += 16) {
        float max1_acc = __int_as_float(0xff800000);
        const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
        #pragma unroll 4
        for (idx i = block * 1024 + lane; i < end; i += 32) {
            const idx y0 = i;
            const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
            max1_acc = max_f32(max1_acc, load0);
        }
        #pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
            const float max1_acc_other = shuffle_xor(max1_acc, apart);
            max1_acc = max_f32(max1_acc, max1_acc_other);
        }
        if (lane == 0) {
            max1_part[block] = max1_acc;
        }
    }
    __syncthreads();
    // the blocks' results are joined pairwise, neighbours first, 32 by a warp, level by level
    for (idx width = blocks, level = 0; width > 1;) {
        for (idx group = warp; group * 32 < width; group += 16) {
            const idx j = group * 32 + lane;
            float max1_acc = __int_as_float(0xff800000);
            if (j < width) {
                max1_acc = max1_part[level + j];
            }
            #pragma unroll 1
            for (int apart = 1; apart < 32; apart *= 2) {
                const float max1_acc_next = shuffle_down(max1_acc, apart);
                if (j + apart < width) {
                    max1_acc = max_f32(max1_acc, max1_acc_next);
                }
            }
            if (lane == 0) {
                max1_part[level + width + group] = max1_acc;
            }
        }
        __syncthreads();
        level += width;
        width = (width + 31) / 32;
    }
    const float max1 = max1_part[root];  // reduce max

    // pass 2 of 3: sum4
    for (idx block = warp; block < blocks; block += 16) {
        float sum4_acc = 0.0f;
        const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
        #pragma unroll 2
        for (idx i = block * 1024 + lane; i < end; i += 32) {
            const idx y0 = i;
            const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
            const float sub2 = (load0 - max1);  // sub
            const float exp3 = exp_f32(sub2);  // exp
            sum4_acc = (sum4_acc + exp3);
        }
        #pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
            const float sum4_acc_other = shuffle_xor(sum4_acc, apart);
            sum4_acc = (sum4_acc + sum4_acc_other);
        }
        if (lane == 0) {
            sum4_part[block] = sum4_acc;
        }
    }
    __syncthreads();
    // the blocks' results are joined pairwise, neighbours first, 32 by a warp, level by level
    for (idx width = blocks, level = 0; width > 1;) {
        for (idx group = warp; group * 32 < width; group += 16) {
            const idx j = group * 32 + lane;
            float sum4_acc = 0.0f;
            if (j < width) {
                sum4_acc = sum4_part[level + j];
            }
            #pragma unroll 1
            for (int apart = 1; apart < 32; apart *= 2) {
                const float sum4_acc_next = shuffle_down(sum4_acc, apart);
                if (j + apart < width) {
                    sum4_acc = (sum4_acc + sum4_acc_next);
                }
            }
            if (lane == 0) {
                sum4_part[level + width + group] = sum4_acc;
            }
        }
        __syncthreads();
        level += width;
        width = (width + 31) / 32;
    }
    const float sum4 = sum4_part[root];  // reduce sum

    // pass 3 of 3: a1
    for (idx block = warp; block < blocks; block += 16) {
        const idx end = block * 1024 + 1024 < n ? block * 1024 + 1024 : n;
        #pragma unroll 2
        for (idx i = block * 1024 + lane; i < end; i += 32) {
            const idx y0 = i;
            const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
            const float sub2 = (load0 - max1);  // sub
            const float exp3 = exp_f32(sub2);  // exp
            const float div5 = (exp3 / sum4);  // div
            b1[a1_off + x0 * a1_x0 + y0] = div5;
        }
    }
}

