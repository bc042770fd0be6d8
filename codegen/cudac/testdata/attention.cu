// ==== sm_80 ====
// kernel attention outer=4 inner=2 "attention"
// variant: attention-simt tile=[4] 1(* * * *) 1(* 0 0 *) 1(0 0 1 1) 1(0 * * 0) 1(1 1 0 0)
// device functions: exp_f32, max_f32, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256, 2)
attention_simt(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    const float* __restrict__ b2,
    float* b3,
    const idx queries,
    const idx values,
    const idx keys,
    const idx a0_off,
    const idx a0_h0,
    const idx a1_off,
    const idx a1_h0,
    const idx a2_off,
    const idx a2_h0,
    const float p0,
    const idx dims,
    const idx a0_q0,
    const idx a1_k0,
    const idx a2_k0,
    const idx a3_off,
    const idx a3_h0,
    const idx a3_q0)
{
    const idx q_tiles = quotient(queries + 63, 64), v_tiles = quotient(values + 63, 64);
    const idx tile = (idx)blockIdx.x;
    const idx v_base = modulo(tile, v_tiles) * 64;
    const idx q_base = modulo(quotient(tile, v_tiles), q_tiles) * 64;
    const idx batch = quotient(quotient(tile, v_tiles), q_tiles);
    const idx h0 = batch;
    const idx q_at = a0_off + h0 * a0_h0;
    const idx k_at = a1_off + h0 * a1_h0;
    const idx v_at = a2_off + h0 * a2_h0;
    const float scale = p0;
    const int tx = (int)threadIdx.x % 16, ty = (int)threadIdx.x / 16;
    __shared__ float stage_q[16][66], stage_k[16][66];  // some dims of the queries and of a block of keys
    __shared__ float stage_v[16][66];  // values of some keys
    __shared__ float weight[64][80];  // score, then weight, of each query and key of the block; at the end the results
    __shared__ float most[64], weights[64], fade[64];  // of each query: maximum, sum of weights, what earlier ones fade by
    float result[4][4] = {};  // weighted values
    if (threadIdx.x < 64) {
        most[threadIdx.x] = __int_as_float(0xff800000);
        weights[threadIdx.x] = 0;
    }
    __syncthreads();
    idx k_end = keys;
    #pragma unroll 1
    for (idx k_base = 0; k_base < k_end; k_base += 64) {
        // scores: sums of 256 products are added in order
        float score[4][4] = {}, part[4][4] = {};
        #pragma unroll 1
        for (idx d_base = 0; d_base < dims; d_base += 16) {
            #pragma unroll 1
            for (int e = (int)threadIdx.x; e < 1024; e += 256) {
                const int line = e / 16, dim = e % 16;
                stage_q[dim][line] = q_base + line < queries && d_base + dim < dims ? b0[q_at + (q_base + line) * a0_q0 + (d_base + dim)] : 0;
            }
            #pragma unroll 1
            for (int e = (int)threadIdx.x; e < 1024; e += 256) {
                const int line = e / 16, dim = e % 16;
                stage_k[dim][line] = k_base + line < keys && d_base + dim < dims ? b1[k_at + (k_base + line) * a1_k0 + (d_base + dim)] : 0;
            }
            __syncthreads();
            #pragma unroll 4
            for (int d = 0; d < 16; d++) {
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        part[i][j] = (__fmaf_rn((stage_q[d][ty + 16 * i]), (stage_k[d][tx + 16 * j]), (part[i][j])));
                    }
                }
            }
            __syncthreads();
            if ((d_base + 16) % 256 == 0 || d_base + 16 >= dims) {
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        score[i][j] += part[i][j];
                        part[i][j] = 0;
                    }
                }
            }
        }
        // weights: exp(score - maximum), -0 for a key that is not seen
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                weight[ty + 16 * i][tx + 16 * j] = score[i][j] * scale;
            }
        }
        #pragma unroll 1
        for (int line = ty; line < 64; line += 16) {
            int visible = keys - k_base < 64 ? (int)(keys - k_base) : 64;
            const float before = most[line];
            float now = __int_as_float(0xff800000);
            bool seen[4];
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const int key = tx + 16 * j;
                seen[j] = key < visible;
                if (seen[j]) now = (max_f32(now, (weight[line][key])));
            }
            #pragma unroll
            for (int lane = 8; lane > 0; lane /= 2) {
                now = (max_f32(now, __shfl_xor_sync(0xffffffffu, now, lane)));
            }
            now = max_f32(before, now);
            float total = 0;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                float& w = weight[line][tx + 16 * j];
                w = seen[j] && now != __int_as_float(0xff800000) ? (exp_f32((w - now))) : -0.0f;
                total = total + w;
            }
            #pragma unroll
            for (int lane = 8; lane > 0; lane /= 2) {
                total = total + __shfl_xor_sync(0xffffffffu, total, lane);
            }
            if (tx == 0) {
                const float faded = now == before ? 1 : (exp_f32((before - now)));
                weights[line] = weights[line] * faded + total;
                fade[line] = faded;
                most[line] = now;
            }
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                result[i][j] = result[i][j] * fade[ty + 16 * i];
            }
        }
        // values, weighted, in the order of the keys
        #pragma unroll 1
        for (int first = 0; first < 64 && k_base + first < keys; first += 16) {
            #pragma unroll 1
            for (int e = (int)threadIdx.x; e < 1024; e += 256) {
                const int line = e / 64, dim = e % 64;
                stage_v[line][dim] = k_base + first + line < keys && v_base + dim < values ? b2[v_at + (v_base + dim) + (k_base + first + line) * a2_k0] : 0;
            }
            __syncthreads();
            #pragma unroll 4
            for (int k = 0; k < 16; k++) {
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float w = weight[ty + 16 * i][first + k];
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        result[i][j] = (__fmaf_rn(w, (stage_v[k][tx + 16 * j]), (result[i][j])));
                    }
                }
            }
            __syncthreads();
        }
    }
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            weight[ty + 16 * i][tx + 16 * j] = result[i][j];
        }
    }
    __syncthreads();
    #pragma unroll 1
    for (int e = (int)threadIdx.x; e < 4096; e += 256) {
        const int line = e / 64;
        const idx query = q_base + line, column = v_base + e % 64;
        if (query >= queries || column >= values) continue;
        const float sum = weight[line][e % 64], divisor = weights[line];
        const float attention0 = divisor != 0 ? sum / divisor : 0;  // attention
        b3[a3_off + h0 * a3_h0 + query * a3_q0 + column] = attention0;
    }
}

// ==== sm_80 ====
// kernel attention outer=4 inner=2 "attention"
// variant: attention-simt tile=[1] 1(* * * *) 1(* 0 0 *) 1(0 0 1 1) 1(0 * * 0) 1(1 1 0 0)
// device functions: exp_f32, max_f32, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256, 2)
attention_simt(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    const float* __restrict__ b2,
    float* b3,
    const idx queries,
    const idx values,
    const idx keys,
    const idx a0_off,
    const idx a0_h0,
    const idx a1_off,
    const idx a1_h0,
    const idx a2_off,
    const idx a2_h0,
    const float p0,
    const idx dims,
    const idx a0_q0,
    const idx a1_k0,
    const idx a2_k0,
    const idx a3_off,
    const idx a3_h0,
    const idx a3_q0)
{
    const idx q_tiles = quotient(queries + 15, 16), v_tiles = quotient(values + 63, 64);
    const idx tile = (idx)blockIdx.x;
    const idx v_base = modulo(tile, v_tiles) * 64;
    const idx q_base = modulo(quotient(tile, v_tiles), q_tiles) * 16;
    const idx batch = quotient(quotient(tile, v_tiles), q_tiles);
    const idx h0 = batch;
    const idx q_at = a0_off + h0 * a0_h0;
    const idx k_at = a1_off + h0 * a1_h0;
    const idx v_at = a2_off + h0 * a2_h0;
    const float scale = p0;
    const int tx = (int)threadIdx.x % 16, ty = (int)threadIdx.x / 16;
    __shared__ float stage_q[16][18], stage_k[16][66];  // some dims of the queries and of a block of keys
    __shared__ float stage_v[16][66];  // values of some keys
    __shared__ float weight[16][80];  // score, then weight, of each query and key of the block; at the end the results
    __shared__ float most[16], weights[16], fade[16];  // of each query: maximum, sum of weights, what earlier ones fade by
    float result[1][4] = {};  // weighted values
    if (threadIdx.x < 16) {
        most[threadIdx.x] = __int_as_float(0xff800000);
        weights[threadIdx.x] = 0;
    }
    __syncthreads();
    idx k_end = keys;
    #pragma unroll 1
    for (idx k_base = 0; k_base < k_end; k_base += 64) {
        // scores: sums of 256 products are added in order
        float score[1][4] = {}, part[1][4] = {};
        #pragma unroll 1
        for (idx d_base = 0; d_base < dims; d_base += 16) {
            #pragma unroll 1
            for (int e = (int)threadIdx.x; e < 256; e += 256) {
                const int line = e / 16, dim = e % 16;
                stage_q[dim][line] = q_base + line < queries && d_base + dim < dims ? b0[q_at + (q_base + line) * a0_q0 + (d_base + dim)] : 0;
            }
            #pragma unroll 1
            for (int e = (int)threadIdx.x; e < 1024; e += 256) {
                const int line = e / 16, dim = e % 16;
                stage_k[dim][line] = k_base + line < keys && d_base + dim < dims ? b1[k_at + (k_base + line) * a1_k0 + (d_base + dim)] : 0;
            }
            __syncthreads();
            #pragma unroll 4
            for (int d = 0; d < 16; d++) {
                #pragma unroll
                for (int i = 0; i < 1; i++) {
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        part[i][j] = (__fmaf_rn((stage_q[d][ty + 16 * i]), (stage_k[d][tx + 16 * j]), (part[i][j])));
                    }
                }
            }
            __syncthreads();
            if ((d_base + 16) % 256 == 0 || d_base + 16 >= dims) {
                #pragma unroll
                for (int i = 0; i < 1; i++) {
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        score[i][j] += part[i][j];
                        part[i][j] = 0;
                    }
                }
            }
        }
        // weights: exp(score - maximum), -0 for a key that is not seen
        #pragma unroll
        for (int i = 0; i < 1; i++) {
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                weight[ty + 16 * i][tx + 16 * j] = score[i][j] * scale;
            }
        }
        #pragma unroll 1
        for (int line = ty; line < 16; line += 16) {
            int visible = keys - k_base < 64 ? (int)(keys - k_base) : 64;
            const float before = most[line];
            float now = __int_as_float(0xff800000);
            bool seen[4];
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const int key = tx + 16 * j;
                seen[j] = key < visible;
                if (seen[j]) now = (max_f32(now, (weight[line][key])));
            }
            #pragma unroll
            for (int lane = 8; lane > 0; lane /= 2) {
                now = (max_f32(now, __shfl_xor_sync(0xffffffffu, now, lane)));
            }
            now = max_f32(before, now);
            float total = 0;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                float& w = weight[line][tx + 16 * j];
                w = seen[j] && now != __int_as_float(0xff800000) ? (exp_f32((w - now))) : -0.0f;
                total = total + w;
            }
            #pragma unroll
            for (int lane = 8; lane > 0; lane /= 2) {
                total = total + __shfl_xor_sync(0xffffffffu, total, lane);
            }
            if (tx == 0) {
                const float faded = now == before ? 1 : (exp_f32((before - now)));
                weights[line] = weights[line] * faded + total;
                fade[line] = faded;
                most[line] = now;
            }
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 1; i++) {
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                result[i][j] = result[i][j] * fade[ty + 16 * i];
            }
        }
        // values, weighted, in the order of the keys
        #pragma unroll 1
        for (int first = 0; first < 64 && k_base + first < keys; first += 16) {
            #pragma unroll 1
            for (int e = (int)threadIdx.x; e < 1024; e += 256) {
                const int line = e / 64, dim = e % 64;
                stage_v[line][dim] = k_base + first + line < keys && v_base + dim < values ? b2[v_at + (v_base + dim) + (k_base + first + line) * a2_k0] : 0;
            }
            __syncthreads();
            #pragma unroll 4
            for (int k = 0; k < 16; k++) {
                #pragma unroll
                for (int i = 0; i < 1; i++) {
                    const float w = weight[ty + 16 * i][first + k];
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        result[i][j] = (__fmaf_rn(w, (stage_v[k][tx + 16 * j]), (result[i][j])));
                    }
                }
            }
            __syncthreads();
        }
    }
    #pragma unroll
    for (int i = 0; i < 1; i++) {
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            weight[ty + 16 * i][tx + 16 * j] = result[i][j];
        }
    }
    __syncthreads();
    #pragma unroll 1
    for (int e = (int)threadIdx.x; e < 1024; e += 256) {
        const int line = e / 64;
        const idx query = q_base + line, column = v_base + e % 64;
        if (query >= queries || column >= values) continue;
        const float sum = weight[line][e % 64], divisor = weights[line];
        const float attention0 = divisor != 0 ? sum / divisor : 0;  // attention
        b3[a3_off + h0 * a3_h0 + query * a3_q0 + column] = attention0;
    }
}

