// ==== sm_80 ====
// kernel rows outer=1 inner=1 "layer-norm"
// variant: row-warp-shared tile=[32] 1(* 0 0 *) 1(1 1 1 1)
// device functions: max_f32, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_shared_sum_div_sub_sum(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    const float* __restrict__ b2,
    float* b3,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a2_off,
    const idx a3_off,
    const idx a3_x0)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;
    extern __shared__ double memory[];
    float* const kept0_rows = (float*)(memory);
    float* const kept0 = kept0_rows + (idx)threadIdx.x / 32 * n;

    // pass 1 of 3: sum2
    float sum2_acc = 0.0f;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        kept0[i] = load0;
        sum2_acc = (sum2_acc + load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum2_acc_other = shuffle_xor(sum2_acc, apart);
        sum2_acc = (sum2_acc + sum2_acc_other);
    }
    const float sum2 = sum2_acc;  // reduce sum

    // pass 2 of 3: sum5, sum7
    const float count1 = (float)((long long)n);  // count
    const float div3 = (sum2 / count1);  // div
    float sum5_acc = 0.0f;
    float sum7_acc = 0.0f;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = kept0[i];  // kept
        const float sub4 = (load0 - div3);  // sub
        const float mul6 = (sub4 * sub4);  // mul
        kept0[i] = sub4;
        sum5_acc = (sum5_acc + sub4);
        sum7_acc = (sum7_acc + mul6);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum5_acc_other = shuffle_xor(sum5_acc, apart);
        sum5_acc = (sum5_acc + sum5_acc_other);
        const float sum7_acc_other = shuffle_xor(sum7_acc, apart);
        sum7_acc = (sum7_acc + sum7_acc_other);
    }
    const float sum5 = sum5_acc;  // reduce sum
    const float sum7 = sum7_acc;  // reduce sum

    // pass 3 of 3: a3
    const float mul8 = (sum5 * sum5);  // mul
    const float div9 = (mul8 / count1);  // div
    const float sub10 = (sum7 - div9);  // sub
    const float div11 = (sub10 / count1);  // div
    const float constant12 = 0.0f;  // const
    const float maximum13 = max_f32(div11, constant12);  // maximum
    const float constant14 = 1e-05f;  // const
    const float add15 = (maximum13 + constant14);  // add
    const float rsqrt16 = (1.0f / __fsqrt_rn(add15));  // rsqrt
    const float div17 = (sum5 / count1);  // div
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float sub4 = kept0[i];  // kept
        const float sub18 = (sub4 - div17);  // sub
        const float mul19 = (sub18 * rsqrt16);  // mul
        const float load20 = b1[a1_off + y0];  // load a1
        const float mul21 = (mul19 * load20);  // mul
        const float load22 = b2[a2_off + y0];  // load a2
        const float add23 = (mul21 + load22);  // add
        b3[a3_off + x0 * a3_x0 + y0] = add23;
    }
}

// ==== sm_80 ====
// kernel rows outer=1 inner=1 "layer-norm"
// variant: row-warp tile=[32 0] 1(* 0 0 *) 1(1 1 1 1)
// device functions: max_f32, shuffle

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(128)
row_warp_sum_div_sub_sum(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    const float* __restrict__ b2,
    float* b3,
    const idx rows,
    const idx n,
    const idx a0_off,
    const idx a0_x0,
    const idx a1_off,
    const idx a2_off,
    const idx a3_off,
    const idx a3_x0)
{
    const int lane = (int)threadIdx.x % 32;
    const idx row = (idx)blockIdx.x * 4 + (idx)threadIdx.x / 32;
    if (row >= rows) return;
    const idx x0 = row;

    // pass 1 of 3: sum2
    float sum2_acc = 0.0f;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        sum2_acc = (sum2_acc + load0);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum2_acc_other = shuffle_xor(sum2_acc, apart);
        sum2_acc = (sum2_acc + sum2_acc_other);
    }
    const float sum2 = sum2_acc;  // reduce sum

    // pass 2 of 3: sum5, sum7
    const float count1 = (float)((long long)n);  // count
    const float div3 = (sum2 / count1);  // div
    float sum5_acc = 0.0f;
    float sum7_acc = 0.0f;
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        const float sub4 = (load0 - div3);  // sub
        const float mul6 = (sub4 * sub4);  // mul
        sum5_acc = (sum5_acc + sub4);
        sum7_acc = (sum7_acc + mul6);
    }
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float sum5_acc_other = shuffle_xor(sum5_acc, apart);
        sum5_acc = (sum5_acc + sum5_acc_other);
        const float sum7_acc_other = shuffle_xor(sum7_acc, apart);
        sum7_acc = (sum7_acc + sum7_acc_other);
    }
    const float sum5 = sum5_acc;  // reduce sum
    const float sum7 = sum7_acc;  // reduce sum

    // pass 3 of 3: a3
    const float mul8 = (sum5 * sum5);  // mul
    const float div9 = (mul8 / count1);  // div
    const float sub10 = (sum7 - div9);  // sub
    const float div11 = (sub10 / count1);  // div
    const float constant12 = 0.0f;  // const
    const float maximum13 = max_f32(div11, constant12);  // maximum
    const float constant14 = 1e-05f;  // const
    const float add15 = (maximum13 + constant14);  // add
    const float rsqrt16 = (1.0f / __fsqrt_rn(add15));  // rsqrt
    const float div17 = (sum5 / count1);  // div
    #pragma unroll 4
    for (idx i = lane; i < n; i += 32) {
        const idx y0 = i;
        const float load0 = b0[a0_off + x0 * a0_x0 + y0];  // load a0
        const float sub4 = (load0 - div3);  // sub
        const float sub18 = (sub4 - div17);  // sub
        const float mul19 = (sub18 * rsqrt16);  // mul
        const float load20 = b1[a1_off + y0];  // load a1
        const float mul21 = (mul19 * load20);  // mul
        const float load22 = b2[a2_off + y0];  // load a2
        const float add23 = (mul21 + load22);  // add
        b3[a3_off + x0 * a3_x0 + y0] = add23;
    }
}

