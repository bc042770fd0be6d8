// ==== sm_80 ====
// kernel rows outer=1 inner=1 "softmax"
// variant: row-warp-shared tile=[32] 1(* *) 1(1 1)
// device functions: exp_f32, max_f32, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_shared_max_sub_exp_sum(
    const float* __restrict__ b0,
    float* b1,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a1_x0)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;
    extern __shared__ double memory[];
    float* const kept0_rows = (float*)(memory);
    float* const kept0 = kept0_rows + (idx)threadIdx.x / 32 * n;

    // pass 1 of 3: max1
    float max1_acc = __int_as_float(0xff800000);
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        kept0[i] = load0;
        max1_acc = max_f32(max1_acc, load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float max1_acc_other = shuffle_xor(max1_acc, apart);
        max1_acc = max_f32(max1_acc, max1_acc_other);
    }
    const float max1 = max1_acc;  // reduce max

    // pass 2 of 3: sum4
    float sum4_acc = 0.0f;
    #pragma unroll 2
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = kept0[i];  // kept
        const float sub2 = (load0 - max1);  // sub
        const float exp3 = exp_f32(sub2);  // exp
        kept0[i] = exp3;
        sum4_acc = (sum4_acc + exp3);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum4_acc_other = shuffle_xor(sum4_acc, apart);
        sum4_acc = (sum4_acc + sum4_acc_other);
    }
    const float sum4 = sum4_acc;  // reduce sum

    // pass 3 of 3: a1
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float exp3 = kept0[i];  // kept
        const float div5 = (exp3 / sum4);  // div
        b1[a1_off + x0 * a1_x0 + y0] = div5;
    }
}

// ==== sm_80 ====
// kernel rows outer=1 inner=1 "softmax"
// variant: row-warp tile=[32 0] 1(* *) 1(1 1)
// device functions: exp_f32, max_f32, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_max_sub_exp_sum(
    const float* __restrict__ b0,
    float* b1,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a1_x0)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;

    // pass 1 of 3: max1
    float max1_acc = __int_as_float(0xff800000);
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        max1_acc = max_f32(max1_acc, load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float max1_acc_other = shuffle_xor(max1_acc, apart);
        max1_acc = max_f32(max1_acc, max1_acc_other);
    }
    const float max1 = max1_acc;  // reduce max

    // pass 2 of 3: sum4
    float sum4_acc = 0.0f;
    #pragma unroll 2
    for (idx i = lane; i < n; i += 32) {
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
    const float sum4 = sum4_acc;  // reduce sum

    // pass 3 of 3: a1
    #pragma unroll 2
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        const float sub2 = (load0 - max1);  // sub
        const float exp3 = exp_f32(sub2);  // exp
        const float div5 = (exp3 / sum4);  // div
        b1[a1_off + x0 * a1_x0 + y0] = div5;
    }
}

