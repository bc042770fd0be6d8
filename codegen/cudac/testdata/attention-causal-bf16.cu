// ==== sm_80 ====
// kernel attention outer=4 inner=2 "attention-causal-bf16"
// variant: attention-mma vector=8 tile=[4 32 32] 1(* * * *) 1(* 0 0 *) 1(0 0 1 1) 1(0 * * 0) 1(1 1 0 0)
// device functions: bf16_to_f32, copies_wait, copy_16, exp_f32, f32_to_bf16, max_f32, multiply_bf16, quotient, read_matrices, read_transposed, split_bf16

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) u32_x4 { unsigned int e[4]; };    // 4 u32 at once

struct alignas(8) f32_x2 { float e[2]; };    // 2 f32 at once

extern "C" __global__ void __launch_bounds__(128, 2)
attention_mma(
    const unsigned short* __restrict__ b0,
    const unsigned short* __restrict__ b1,
    const unsigned short* __restrict__ b2,
    unsigned short* b3,
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
    const long long p1,
    const idx dims,
    const idx a0_q0,
    const idx a1_k0,
    const idx a2_k0,
    const idx a3_off,
    const idx a3_h0,
    const idx a3_q0)
{
    const idx q_tiles = quotient(queries + 63, 64), v_tiles = quotient(values + 31, 32);
    const idx tile = (idx)blockIdx.x;
    const idx v_base = modulo(tile, v_tiles) * 32;
    const idx q_base = modulo(quotient(tile, v_tiles), q_tiles) * 64;
    const idx batch = quotient(quotient(tile, v_tiles), q_tiles);
    const idx h0 = batch;
    const idx q_at = a0_off + h0 * a0_h0;
    const idx k_at = a1_off + h0 * a1_h0;
    const idx v_at = a2_off + h0 * a2_h0;
    const float scale = p0;
    // key j is seen by query i where j <= i + reach; an offset beyond any sequence is cut
    const long long reach = p1 < -1099511627776 ? -1099511627776 : p1 > 1099511627776 ? 1099511627776 : p1;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    extern __shared__ __align__(16) unsigned char shared[];  // queries, a block of keys, its values
    const unsigned int base = (unsigned int)__cvta_generic_to_shared(shared);
    // a lane has two rows of each fragment, lane / 4 and 8 more, and two columns, from lane % 4 * 2 on
    float most[2] = {__int_as_float(0xff800000), __int_as_float(0xff800000)}, weights[2] = {};  // maximum and sum of each query
    float result[4][4] = {};  // weighted values
    unsigned long long strange[2] = {};  // of results 2 * j + c of each half: 1 where +inf, 2 where -inf is among the values, 3 for NaN
    idx k_end = keys;
    const long long seen_end = (q_base + 64 < queries ? q_base + 64 : queries) + reach;
    if (seen_end < k_end) k_end = seen_end < 0 ? 0 : (idx)seen_end;  // no query sees later keys
    #pragma unroll 2
    for (int e = (int)threadIdx.x; e < 256; e += 128) {
        const int line = e / 4, column = e % 4 * 8;
        copy_16(base + (line * 40 + column) * 2, b0 + q_at + (q_base + line) * a0_q0 + column, q_base + line < queries && column < dims ? 16 : 0);
    }
    #pragma unroll 2
    for (int e = (int)threadIdx.x; e < 256; e += 128) {
        const int line = e / 4, column = e % 4 * 8;
        copy_16(base + 5120 + (line * 40 + column) * 2, b1 + k_at + line * a1_k0 + column, line < keys && column < dims ? 16 : 0);
    }
    copies_commit();
    #pragma unroll 1
    for (idx k_base = 0; k_base < k_end; k_base += 64) {
        copies_wait<0>();
        __syncthreads();  // the keys are there, the values before them are done with
        #pragma unroll 2
        for (int e = (int)threadIdx.x; e < 256; e += 128) {
            const int line = e / 4, column = e % 4 * 8;
            copy_16(base + 10240 + (line * 40 + column) * 2, b2 + v_at + (v_base + column) + (k_base + line) * a2_k0, k_base + line < keys && v_base + column < values ? 16 : 0);
        }
        copies_commit();
        // scores
        float score[8][4] = {};
        #pragma unroll 2
        for (int step = 0; step < 2; step++) {
            unsigned int left[4], right[2][2];
            read_matrices(base + ((warp * 16 + lane % 16) * 40 + step * 16 + lane / 16 * 8) * 2, left[0], left[1], left[2], left[3]);
            #pragma unroll
            for (int j = 0; j < 8; j += 2) {
                read_matrices(base + 5120 + ((j * 8 + lane / 16 * 8 + lane % 8) * 40 + step * 16 + lane / 8 % 2 * 8) * 2, right[0][0], right[0][1], right[1][0], right[1][1]);
                multiply_bf16(score[j], left, right[0]);
                multiply_bf16(score[j + 1], left, right[1]);
            }
        }
        __syncthreads();  // the keys are done with
        if (k_base + 64 < k_end) {
            #pragma unroll 2
            for (int e = (int)threadIdx.x; e < 256; e += 128) {
                const int line = e / 4, column = e % 4 * 8;
                copy_16(base + 5120 + (line * 40 + column) * 2, b1 + k_at + (k_base + 64 + line) * a1_k0 + column, k_base + 64 + line < keys && column < dims ? 16 : 0);
            }
        }
        copies_commit();
        // weights: exp(score - maximum); the score of a key that is not seen is -inf
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            const idx query = q_base + warp * 16 + lane / 4 + 8 * half;
            int visible = keys - k_base < 64 ? (int)(keys - k_base) : 64;
            const long long reached = (long long)query + reach - k_base + 1;
            if (reached < visible) visible = reached < 0 ? 0 : (int)reached;
            float now = most[half];
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                #pragma unroll
                for (int c = 0; c < 2; c++) {
                    const int key = j * 8 + lane % 4 * 2 + c;
                    float& w = score[j][2 * half + c];
                    w = key < visible ? w * scale : __int_as_float(0xff800000);
                    now = max_f32(now, w);
                }
            }
            #pragma unroll
            for (int apart = 1; apart < 4; apart *= 2) {
                now = (max_f32(now, __shfl_xor_sync(0xffffffffu, now, apart)));
            }
            const float top = now == __int_as_float(0xff800000) ? 0 : now;  // of a query that has seen nothing, weights are 0
            const float fade = (exp_f32((most[half] - top)));
            if (fade == 0) strange[half] = ((strange[half] | strange[half] >> 1) & 0x5555555555555555ull) * 3;
            float total = 0;
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                #pragma unroll
                for (int c = 0; c < 2; c++) {
                    float& w = score[j][2 * half + c];
                    w = (exp_f32((w - top)));
                    total = total + w;
                }
            }
            #pragma unroll
            for (int apart = 1; apart < 4; apart *= 2) {
                total = total + __shfl_xor_sync(0xffffffffu, total, apart);
            }
            weights[half] = weights[half] * fade + total;
            most[half] = now;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                result[j][2 * half] = result[j][2 * half] * fade;
                result[j][2 * half + 1] = result[j][2 * half + 1] * fade;
            }
        }
        copies_wait<1>();
        __syncthreads();  // the values are there
        // infinite and NaN values: adding 1 to the exponent carries into the sign
        unsigned int carry = 0;
        #pragma unroll 4
        for (int e = (int)threadIdx.x; e < 256; e += 128) {
            const u32_x4 words = *(const u32_x4*)(shared + 10240 + ((e % 64) * 40 + e / 64 * 8) * 2);
            #pragma unroll
            for (int w = 0; w < 4; w++) carry |= (words.e[w] & 0x7f807f80u) + 0x00800080u;
        }
        if (__syncthreads_or((carry & 0x80008000u) != 0)) {
            unsigned int sight[2] = {};  // two bits for each key of the lane: 1 where it is seen with a weight above 0, 2 with 0 or NaN
            #pragma unroll
            for (int half = 0; half < 2; half++) {
                const idx query = q_base + warp * 16 + lane / 4 + 8 * half;
                int visible = keys - k_base < 64 ? (int)(keys - k_base) : 64;
                const long long reached = (long long)query + reach - k_base + 1;
                if (reached < visible) visible = reached < 0 ? 0 : (int)reached;
                if (most[half] == __int_as_float(0xff800000)) visible = 0;
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    #pragma unroll
                    for (int c = 0; c < 2; c++) {
                        const int key = j * 8 + lane % 4 * 2 + c;
                        if (key < visible) sight[half] |= (score[j][2 * half + c] > 0 ? 1u : 2u) << (4 * j + 2 * c);
                    }
                }
            }
            // what values that are infinite or NaN add, key by key
            #pragma unroll 1
            for (int key = 0; key < 64; key++) {
                const int owner = lane / 4 * 4 + key / 2 % 4, place = key / 8 * 4 + key % 2 * 2;
                #pragma unroll
                for (int half = 0; half < 2; half++) {
                    const unsigned int how = __shfl_sync(0xffffffffu, sight[half], owner) >> place & 3;
                    if (how == 0) continue;
                    #pragma unroll 1
                    for (int n = 0; n < 8; n++) {
                        const unsigned int value = *(const unsigned short*)(shared + 10240 + (key * 40 + n / 2 * 8 + lane % 4 * 2 + n % 2) * 2);
                        if ((value & 0x7f80u) != 0x7f80u) continue;
                        const unsigned long long sum = how == 2 || (value & 0x7fu) != 0 ? 3 : (value & 0x8000u) == 0 ? 1 : 2;
                        strange[half] |= sum << 2 * n;
                    }
                }
            }
            __syncthreads();  // they are 0 from here on
            #pragma unroll 1
            for (int e = (int)threadIdx.x; e < 2048; e += 128) {
                unsigned short& value = *(unsigned short*)(shared + 10240 + ((e / 32) * 40 + e % 32) * 2);
                if ((value & 0x7f80u) == 0x7f80u) value = 0;
            }
            __syncthreads();
        }
        // values, weighted
        #pragma unroll
        for (int step = 0; step < 4; step++) {
            unsigned int halves[4], rest[4];
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                float (&w)[4] = score[2 * step + i / 2];
                split_bf16(w[i % 2 * 2], w[i % 2 * 2 + 1], halves[i], rest[i]);
            }
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                unsigned int right[2][2];
                read_transposed(base + 10240 + ((step * 16 + lane % 16) * 40 + j * 16 + lane / 16 * 8) * 2, right[0][0], right[0][1], right[1][0], right[1][1]);
                multiply_bf16(result[2 * j + 0], halves, right[0]);
                multiply_bf16(result[2 * j + 0], rest, right[0]);
                multiply_bf16(result[2 * j + 1], halves, right[1]);
                multiply_bf16(result[2 * j + 1], rest, right[1]);
            }
        }
    }
    copies_wait<0>();
    __syncthreads();
    float* const results = (float*)shared;
    float* const sums = results + 2560;  // of weights
    #pragma unroll
    for (int half = 0; half < 2; half++) {
        float* const mine = results + (warp * 16 + lane / 4 + 8 * half) * 40 + lane % 4 * 2;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            *(f32_x2*)(mine + j * 8) = {result[j][2 * half], result[j][2 * half + 1]};
        }
        if (lane % 4 == 0) sums[warp * 16 + lane / 4 + 8 * half] = weights[half];
        #pragma unroll 1
        for (int n = 0; n < 8; n++) {
            const unsigned int sum = (unsigned int)(strange[half] >> 2 * n) & 3;
            float& r = mine[n / 2 * 8 + n % 2];
            if (sum & 1) r = r + __int_as_float(0x7f800000);
            if (sum & 2) r = r + __int_as_float(0xff800000);
        }
    }
    __syncthreads();
    #pragma unroll 1
    for (int e = (int)threadIdx.x; e < 2048; e += 128) {
        const int line = e / 32;
        const idx query = q_base + line, column = v_base + e % 32;
        if (query >= queries || column >= values) continue;
        const float sum = results[line * 40 + e % 32], divisor = sums[line];
        const float attention0 = divisor != 0 ? sum / divisor : 0;  // attention
        const float cast1 = bf16_to_f32(f32_to_bf16(attention0));  // cast f32 to bf16
        b3[a3_off + h0 * a3_h0 + query * a3_q0 + column] = (unsigned short)(__float_as_uint(cast1) >> 16);
    }
}

// ==== sm_80 ====
// kernel attention outer=4 inner=2 "attention-causal-bf16"
// variant: attention-mma tile=[1 32 32] 1(* * * *) 1(* 0 0 *) 1(0 0 1 1) 1(0 * * 0) 1(1 1 0 0)
// device functions: bf16_to_f32, exp_f32, f32_to_bf16, max_f32, multiply_bf16, quotient, read_matrices, read_transposed, split_bf16

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) u32_x4 { unsigned int e[4]; };    // 4 u32 at once

struct alignas(8) f32_x2 { float e[2]; };    // 2 f32 at once

extern "C" __global__ void __launch_bounds__(32)
attention_mma(
    const unsigned short* __restrict__ b0,
    const unsigned short* __restrict__ b1,
    const unsigned short* __restrict__ b2,
    unsigned short* b3,
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
    const long long p1,
    const idx dims,
    const idx a0_q0,
    const idx a1_k0,
    const idx a2_k0,
    const idx a3_off,
    const idx a3_h0,
    const idx a3_q0)
{
    const idx q_tiles = quotient(queries + 15, 16), v_tiles = quotient(values + 31, 32);
    const idx tile = (idx)blockIdx.x;
    const idx v_base = modulo(tile, v_tiles) * 32;
    const idx q_base = modulo(quotient(tile, v_tiles), q_tiles) * 16;
    const idx batch = quotient(quotient(tile, v_tiles), q_tiles);
    const idx h0 = batch;
    const idx q_at = a0_off + h0 * a0_h0;
    const idx k_at = a1_off + h0 * a1_h0;
    const idx v_at = a2_off + h0 * a2_h0;
    const float scale = p0;
    // key j is seen by query i where j <= i + reach; an offset beyond any sequence is cut
    const long long reach = p1 < -1099511627776 ? -1099511627776 : p1 > 1099511627776 ? 1099511627776 : p1;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    extern __shared__ __align__(16) unsigned char shared[];  // queries, a block of keys, its values
    const unsigned int base = (unsigned int)__cvta_generic_to_shared(shared);
    // a lane has two rows of each fragment, lane / 4 and 8 more, and two columns, from lane % 4 * 2 on
    float most[2] = {__int_as_float(0xff800000), __int_as_float(0xff800000)}, weights[2] = {};  // maximum and sum of each query
    float result[4][4] = {};  // weighted values
    unsigned long long strange[2] = {};  // of results 2 * j + c of each half: 1 where +inf, 2 where -inf is among the values, 3 for NaN
    idx k_end = keys;
    const long long seen_end = (q_base + 16 < queries ? q_base + 16 : queries) + reach;
    if (seen_end < k_end) k_end = seen_end < 0 ? 0 : (idx)seen_end;  // no query sees later keys
    #pragma unroll 4
    for (int e = (int)threadIdx.x; e < 512; e += 32) {
        const int line = e / 32, column = e % 32;
        *(unsigned short*)(shared + (line * 40 + column) * 2) = q_base + line < queries && column < dims ? *(b0 + q_at + (q_base + line) * a0_q0 + column) : 0;
    }
    #pragma unroll 4
    for (int e = (int)threadIdx.x; e < 2048; e += 32) {
        const int line = e / 32, column = e % 32;
        *(unsigned short*)(shared + 1280 + (line * 40 + column) * 2) = line < keys && column < dims ? *(b1 + k_at + line * a1_k0 + column) : 0;
    }
    #pragma unroll 1
    for (idx k_base = 0; k_base < k_end; k_base += 64) {
        __syncthreads();  // the keys are there, the values before them are done with
        #pragma unroll 4
        for (int e = (int)threadIdx.x; e < 2048; e += 32) {
            const int line = e / 32, column = e % 32;
            *(unsigned short*)(shared + 6400 + (line * 40 + column) * 2) = k_base + line < keys && v_base + column < values ? *(b2 + v_at + (v_base + column) + (k_base + line) * a2_k0) : 0;
        }
        // scores
        float score[8][4] = {};
        #pragma unroll 2
        for (int step = 0; step < 2; step++) {
            unsigned int left[4], right[2][2];
            read_matrices(base + ((warp * 16 + lane % 16) * 40 + step * 16 + lane / 16 * 8) * 2, left[0], left[1], left[2], left[3]);
            #pragma unroll
            for (int j = 0; j < 8; j += 2) {
                read_matrices(base + 1280 + ((j * 8 + lane / 16 * 8 + lane % 8) * 40 + step * 16 + lane / 8 % 2 * 8) * 2, right[0][0], right[0][1], right[1][0], right[1][1]);
                multiply_bf16(score[j], left, right[0]);
                multiply_bf16(score[j + 1], left, right[1]);
            }
        }
        __syncthreads();  // the keys are done with
        if (k_base + 64 < k_end) {
            #pragma unroll 4
            for (int e = (int)threadIdx.x; e < 2048; e += 32) {
                const int line = e / 32, column = e % 32;
                *(unsigned short*)(shared + 1280 + (line * 40 + column) * 2) = k_base + 64 + line < keys && column < dims ? *(b1 + k_at + (k_base + 64 + line) * a1_k0 + column) : 0;
            }
        }
        // weights: exp(score - maximum); the score of a key that is not seen is -inf
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            const idx query = q_base + warp * 16 + lane / 4 + 8 * half;
            int visible = keys - k_base < 64 ? (int)(keys - k_base) : 64;
            const long long reached = (long long)query + reach - k_base + 1;
            if (reached < visible) visible = reached < 0 ? 0 : (int)reached;
            float now = most[half];
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                #pragma unroll
                for (int c = 0; c < 2; c++) {
                    const int key = j * 8 + lane % 4 * 2 + c;
                    float& w = score[j][2 * half + c];
                    w = key < visible ? w * scale : __int_as_float(0xff800000);
                    now = max_f32(now, w);
                }
            }
            #pragma unroll
            for (int apart = 1; apart < 4; apart *= 2) {
                now = (max_f32(now, __shfl_xor_sync(0xffffffffu, now, apart)));
            }
            const float top = now == __int_as_float(0xff800000) ? 0 : now;  // of a query that has seen nothing, weights are 0
            const float fade = (exp_f32((most[half] - top)));
            if (fade == 0) strange[half] = ((strange[half] | strange[half] >> 1) & 0x5555555555555555ull) * 3;
            float total = 0;
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                #pragma unroll
                for (int c = 0; c < 2; c++) {
                    float& w = score[j][2 * half + c];
                    w = (exp_f32((w - top)));
                    total = total + w;
                }
            }
            #pragma unroll
            for (int apart = 1; apart < 4; apart *= 2) {
                total = total + __shfl_xor_sync(0xffffffffu, total, apart);
            }
            weights[half] = weights[half] * fade + total;
            most[half] = now;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                result[j][2 * half] = result[j][2 * half] * fade;
                result[j][2 * half + 1] = result[j][2 * half + 1] * fade;
            }
        }
        __syncthreads();  // the values are there
        // infinite and NaN values: adding 1 to the exponent carries into the sign
        unsigned int carry = 0;
        #pragma unroll 4
        for (int e = (int)threadIdx.x; e < 256; e += 32) {
            const u32_x4 words = *(const u32_x4*)(shared + 6400 + ((e % 64) * 40 + e / 64 * 8) * 2);
            #pragma unroll
            for (int w = 0; w < 4; w++) carry |= (words.e[w] & 0x7f807f80u) + 0x00800080u;
        }
        if (__syncthreads_or((carry & 0x80008000u) != 0)) {
            unsigned int sight[2] = {};  // two bits for each key of the lane: 1 where it is seen with a weight above 0, 2 with 0 or NaN
            #pragma unroll
            for (int half = 0; half < 2; half++) {
                const idx query = q_base + warp * 16 + lane / 4 + 8 * half;
                int visible = keys - k_base < 64 ? (int)(keys - k_base) : 64;
                const long long reached = (long long)query + reach - k_base + 1;
                if (reached < visible) visible = reached < 0 ? 0 : (int)reached;
                if (most[half] == __int_as_float(0xff800000)) visible = 0;
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    #pragma unroll
                    for (int c = 0; c < 2; c++) {
                        const int key = j * 8 + lane % 4 * 2 + c;
                        if (key < visible) sight[half] |= (score[j][2 * half + c] > 0 ? 1u : 2u) << (4 * j + 2 * c);
                    }
                }
            }
            // what values that are infinite or NaN add, key by key
            #pragma unroll 1
            for (int key = 0; key < 64; key++) {
                const int owner = lane / 4 * 4 + key / 2 % 4, place = key / 8 * 4 + key % 2 * 2;
                #pragma unroll
                for (int half = 0; half < 2; half++) {
                    const unsigned int how = __shfl_sync(0xffffffffu, sight[half], owner) >> place & 3;
                    if (how == 0) continue;
                    #pragma unroll 1
                    for (int n = 0; n < 8; n++) {
                        const unsigned int value = *(const unsigned short*)(shared + 6400 + (key * 40 + n / 2 * 8 + lane % 4 * 2 + n % 2) * 2);
                        if ((value & 0x7f80u) != 0x7f80u) continue;
                        const unsigned long long sum = how == 2 || (value & 0x7fu) != 0 ? 3 : (value & 0x8000u) == 0 ? 1 : 2;
                        strange[half] |= sum << 2 * n;
                    }
                }
            }
            __syncthreads();  // they are 0 from here on
            #pragma unroll 1
            for (int e = (int)threadIdx.x; e < 2048; e += 32) {
                unsigned short& value = *(unsigned short*)(shared + 6400 + ((e / 32) * 40 + e % 32) * 2);
                if ((value & 0x7f80u) == 0x7f80u) value = 0;
            }
            __syncthreads();
        }
        // values, weighted
        #pragma unroll
        for (int step = 0; step < 4; step++) {
            unsigned int halves[4], rest[4];
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                float (&w)[4] = score[2 * step + i / 2];
                split_bf16(w[i % 2 * 2], w[i % 2 * 2 + 1], halves[i], rest[i]);
            }
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                unsigned int right[2][2];
                read_transposed(base + 6400 + ((step * 16 + lane % 16) * 40 + j * 16 + lane / 16 * 8) * 2, right[0][0], right[0][1], right[1][0], right[1][1]);
                multiply_bf16(result[2 * j + 0], halves, right[0]);
                multiply_bf16(result[2 * j + 0], rest, right[0]);
                multiply_bf16(result[2 * j + 1], halves, right[1]);
                multiply_bf16(result[2 * j + 1], rest, right[1]);
            }
        }
    }
    __syncthreads();
    float* const results = (float*)shared;
    float* const sums = results + 640;  // of weights
    #pragma unroll
    for (int half = 0; half < 2; half++) {
        float* const mine = results + (warp * 16 + lane / 4 + 8 * half) * 40 + lane % 4 * 2;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            *(f32_x2*)(mine + j * 8) = {result[j][2 * half], result[j][2 * half + 1]};
        }
        if (lane % 4 == 0) sums[warp * 16 + lane / 4 + 8 * half] = weights[half];
        #pragma unroll 1
        for (int n = 0; n < 8; n++) {
            const unsigned int sum = (unsigned int)(strange[half] >> 2 * n) & 3;
            float& r = mine[n / 2 * 8 + n % 2];
            if (sum & 1) r = r + __int_as_float(0x7f800000);
            if (sum & 2) r = r + __int_as_float(0xff800000);
        }
    }
    __syncthreads();
    #pragma unroll 1
    for (int e = (int)threadIdx.x; e < 512; e += 32) {
        const int line = e / 32;
        const idx query = q_base + line, column = v_base + e % 32;
        if (query >= queries || column >= values) continue;
        const float sum = results[line * 40 + e % 32], divisor = sums[line];
        const float attention0 = divisor != 0 ? sum / divisor : 0;  // attention
        const float cast1 = bf16_to_f32(f32_to_bf16(attention0));  // cast f32 to bf16
        b3[a3_off + h0 * a3_h0 + query * a3_q0 + column] = (unsigned short)(__float_as_uint(cast1) >> 16);
    }
}

