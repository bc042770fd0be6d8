// ==== sm_80 ====
// kernel contraction outer=2 inner=1 "linear-gelu-bf16"
// variant: mma-k-k-one vector=4 tile=[16 64 32 4] 0(   ) 1(* 0 0 *) 1(0 * 1 1) 1(1 1 0 0)
// device functions: bf16_to_f32, copies_wait, copy_16, f32_to_bf16, gelu_f32, multiply_bf16, piece, quotient, read_matrices

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(8) f32_x2 { float e[2]; };    // 2 f32 at once

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

struct alignas(8) bf16_x4 { unsigned short e[4]; };    // 4 bf16 at once

extern "C" __global__ void __launch_bounds__(128, 1)
mma_k_k_one_add_gelu(
    const unsigned short* __restrict__ b0,
    const unsigned short* __restrict__ b1,
    const unsigned short* __restrict__ b2,
    unsigned short* b3,
    const idx m_n,
    const idx n_n,
    const idx k_n,
    const idx m_tiles,
    const idx n_tiles,
    const idx k_panels,
    const idx a0_off,
    const idx a0_m0,
    const idx a1_off,
    const idx a1_n0,
    const idx a2_off,
    const idx a3_off,
    const idx a3_m0)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned int panels = (unsigned int)__cvta_generic_to_shared(shared);
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
    const int warp_m = warp / 4, warp_n = warp % 4;

    // The tile of this block, 16 by 64 in panels of 32 along k. Eight rows of tiles go together,
    // so that their operands are met again in the cache.
    const idx tile = (idx)blockIdx.x;
    const idx z_at = quotient(tile, m_tiles * n_tiles);
    const idx in_batch = tile - z_at * m_tiles * n_tiles;
    const idx group = quotient(in_batch, 8 * n_tiles);
    const idx in_group = in_batch - group * 8 * n_tiles;
    const idx high = m_tiles - group * 8 < 8 ? m_tiles - group * 8 : 8;
    const idx m_tile = (group * 8 + modulo(in_group, high)) * 16;
    const idx n_tile = quotient(in_group, high) * 64;

    float sum[1][2][4] = {};    // of the current block of k
    #pragma unroll 1
    // Panel t is multiplied while the next 3 are on their way.
    #pragma unroll 1
    for (idx t = -3; t < k_panels; t++) {
        if (t >= 0) {
            copies_wait<2>();    // panel t is here
            __syncthreads();
        }
        if (t + 3 < k_panels) {
            const idx k_panel = (t + 3) * 32;
            const int into = (int)(t + 3) & 3;
            // left panel: 16 bytes along k at once
            #pragma unroll 1
            for (int j = 0; j < 1; j++) {
                const unsigned int e = j * 128 + threadIdx.x;
                if (e >= 64) break;
                const unsigned int line = e / 4, column = e % 4 * 8;
                const idx m_at = m_tile + line, kk = k_panel + column;
                const idx m0 = m_at;
                const idx k0 = kk;
                const int there = !(m_at < m_n && kk < k_n) ? 0 : k_n - kk < 8 ? (int)(k_n - kk) * 2 : 16;
                copy_16(panels + into * 1024 + piece<4>(line, column / 8) + column % 8 * 2, b0 + (a0_off + m0 * a0_m0 + k0), there);
            }
            // right panel: 16 bytes along k at once
            #pragma unroll 2
            for (int j = 0; j < 2; j++) {
                const unsigned int e = j * 128 + threadIdx.x;
                const unsigned int line = e / 4, column = e % 4 * 8;
                const idx n_at = n_tile + line, kk = k_panel + column;
                const idx n0 = n_at;
                const idx k0 = kk;
                const int there = !(n_at < n_n && kk < k_n) ? 0 : k_n - kk < 8 ? (int)(k_n - kk) * 2 : 16;
                copy_16(panels + 4096 + into * 4096 + piece<4>(line, column / 8) + column % 8 * 2, b1 + (a1_off + n0 * a1_n0 + k0), there);
            }
        }
        copies_commit();
        if (t < 0) continue;
        const int from = (int)(t) & 3;
        #pragma unroll
        for (int step = 0; step < 2; step++) {
            unsigned int left[1][4], right[2][2];
            #pragma unroll
            for (int i = 0; i < 1; i++) {
                read_matrices(panels + from * 1024 + piece<4>(warp_m * 16 + i * 16 + lane % 8 + lane / 8 % 2 * 8, step * 2 + lane / 16), left[i][0], left[i][1], left[i][2], left[i][3]);
            }
            #pragma unroll
            for (int j = 0; j < 2; j += 2) {
                read_matrices(panels + 4096 + from * 4096 + piece<4>(warp_n * 16 + j * 8 + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2), right[j][0], right[j][1], right[j + 1][0], right[j + 1][1]);
            }
            #pragma unroll
            for (int i = 0; i < 1; i++)
                #pragma unroll
                for (int j = 0; j < 2; j++) multiply_bf16(sum[i][j], left[i], right[j]);
        }
    }
    // Sums of blocks are added from +0, so that none is -0.
    #pragma unroll
    for (int i = 0; i < 1; i++)
        #pragma unroll
        for (int j = 0; j < 2; j++)
            #pragma unroll
            for (int k = 0; k < 4; k++)
                sum[i][j][k] = 0 + sum[i][j][k];
    float* const sums = (float*)(shared + 0);
    #pragma unroll 1
    for (int w = 0; w < 1 && m_tile + w * 16 < m_n; w++) {
        __syncthreads();
        if (warp_m == w) {
            float* const mine = sums + lane / 4 * 72 + warp_n * 16 + lane % 4 * 2;
            #pragma unroll
            for (int i = 0; i < 1; i++) {
                #pragma unroll
                for (int j = 0; j < 2; j++) {
                    *(f32_x2*)(mine + (i * 16 + 0) * 72 + j * 8) = f32_x2{{sum[i][j][0], sum[i][j][1]}};
                    *(f32_x2*)(mine + (i * 16 + 8) * 72 + j * 8) = f32_x2{{sum[i][j][2], sum[i][j][3]}};
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int e = (int)threadIdx.x; e < 256; e += 128) {
            const int row = e / 16, column = e % 16 * 4;
            const idx m_at = m_tile + w * 16 + row, n_at = n_tile + column;
            if (m_at >= m_n || n_at >= n_n) continue;
            const idx m0 = m_at;
            const idx n0 = n_at;
            const f32_x4 total_v = *(const f32_x4*)(sums + row * 72 + column);
            const bf16_x4 a2_v = *(const bf16_x4*)(b2 + (a2_off + n0));
            bf16_x4 s0_v;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const float contract0 = total_v.e[j];  // contract
                const float load1 = bf16_to_f32(a2_v.e[j]);  // load a2
                const float add2 = (contract0 + load1);  // add
                const float cast3 = bf16_to_f32(f32_to_bf16(add2));  // cast f32 to bf16
                const float gelu4 = gelu_f32(cast3);  // gelu
                const float cast5 = bf16_to_f32(f32_to_bf16(gelu4));  // cast f32 to bf16
                s0_v.e[j] = (unsigned short)(__float_as_uint(cast5) >> 16);
            }
            *(bf16_x4*)(b3 + (a3_off + m0 * a3_m0 + n0)) = s0_v;
        }
    }
}

// ==== sm_80 ====
// kernel contraction outer=2 inner=1 "linear-gelu-bf16"
// variant: mma-each-each tile=[64 64 32 4] 0(   ) 1(* 0 0 *) 1(0 * 1 1) 1(1 1 0 0)
// device functions: bf16_to_f32, copies_wait, f32_to_bf16, gelu_f32, multiply_bf16, piece, quotient, read_matrices

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(8) f32_x2 { float e[2]; };    // 2 f32 at once

extern "C" __global__ void __launch_bounds__(128, 1)
mma_each_each_add_gelu(
    const unsigned short* __restrict__ b0,
    const unsigned short* __restrict__ b1,
    const unsigned short* __restrict__ b2,
    unsigned short* b3,
    const idx m_n,
    const idx n_n,
    const idx k_n,
    const idx m_tiles,
    const idx n_tiles,
    const idx k_panels,
    const idx a0_off,
    const idx a0_m0,
    const idx a1_off,
    const idx a1_n0,
    const idx a2_off,
    const idx a3_off,
    const idx a3_m0)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned int panels = (unsigned int)__cvta_generic_to_shared(shared);
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
    const int warp_m = warp / 2, warp_n = warp % 2;

    // The tile of this block, 64 by 64 in panels of 32 along k. Eight rows of tiles go together,
    // so that their operands are met again in the cache.
    const idx tile = (idx)blockIdx.x;
    const idx z_at = quotient(tile, m_tiles * n_tiles);
    const idx in_batch = tile - z_at * m_tiles * n_tiles;
    const idx group = quotient(in_batch, 8 * n_tiles);
    const idx in_group = in_batch - group * 8 * n_tiles;
    const idx high = m_tiles - group * 8 < 8 ? m_tiles - group * 8 : 8;
    const idx m_tile = (group * 8 + modulo(in_group, high)) * 64;
    const idx n_tile = quotient(in_group, high) * 64;

    float sum[2][4][4] = {};    // of the current block of k
    float total[2][4][4] = {};    // of the blocks before
    #pragma unroll 1
    // Panel t is multiplied while the next 3 are on their way.
    #pragma unroll 1
    for (idx t = -3; t < k_panels; t++) {
        if (t >= 0) {
            copies_wait<2>();    // panel t is here
            __syncthreads();
        }
        if (t + 3 < k_panels) {
            const idx k_panel = (t + 3) * 32;
            const int into = (int)(t + 3) & 3;
            // left panel: element by element, through a register
            #pragma unroll 4
            for (int j = 0; j < 16; j++) {
                const unsigned int e = j * 128 + threadIdx.x;
                const unsigned int line = e / 32, row = e % 32;
                const idx m_at = m_tile + line, kk = k_panel + row;
                const idx m0 = m_at;
                const idx k0 = kk;
                unsigned short factor = 0;
                if (m_at < m_n && kk < k_n) {
                    factor = b0[a0_off + m0 * a0_m0 + k0];
                }
                *(unsigned short*)(shared + into * 4096 + piece<4>(line, row / 8) + row % 8 * 2) = factor;
            }
            // right panel: element by element, through a register
            #pragma unroll 4
            for (int j = 0; j < 16; j++) {
                const unsigned int e = j * 128 + threadIdx.x;
                const unsigned int line = e / 32, row = e % 32;
                const idx n_at = n_tile + line, kk = k_panel + row;
                const idx n0 = n_at;
                const idx k0 = kk;
                unsigned short factor = 0;
                if (n_at < n_n && kk < k_n) {
                    factor = b1[a1_off + n0 * a1_n0 + k0];
                }
                *(unsigned short*)(shared + 16384 + into * 4096 + piece<4>(line, row / 8) + row % 8 * 2) = factor;
            }
        }
        copies_commit();
        if (t < 0) continue;
        const int from = (int)(t) & 3;
        #pragma unroll
        for (int step = 0; step < 2; step++) {
            unsigned int left[2][4], right[4][2];
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                read_matrices(panels + from * 4096 + piece<4>(warp_m * 32 + i * 16 + lane % 8 + lane / 8 % 2 * 8, step * 2 + lane / 16), left[i][0], left[i][1], left[i][2], left[i][3]);
            }
            #pragma unroll
            for (int j = 0; j < 4; j += 2) {
                read_matrices(panels + 16384 + from * 4096 + piece<4>(warp_n * 32 + j * 8 + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2), right[j][0], right[j][1], right[j + 1][0], right[j + 1][1]);
            }
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++) multiply_bf16(sum[i][j], left[i], right[j]);
        }
        if (((t + 1) & 31) == 0 || t + 1 == k_panels) {
            // A block of k is complete.
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    #pragma unroll
                    for (int k = 0; k < 4; k++)
                        total[i][j][k] = total[i][j][k] + sum[i][j][k], sum[i][j][k] = 0;
        }
    }
    float* const sums = (float*)(shared + 0);
    #pragma unroll 1
    for (int w = 0; w < 2 && m_tile + w * 32 < m_n; w++) {
        __syncthreads();
        if (warp_m == w) {
            float* const mine = sums + lane / 4 * 72 + warp_n * 32 + lane % 4 * 2;
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    *(f32_x2*)(mine + (i * 16 + 0) * 72 + j * 8) = f32_x2{{total[i][j][0], total[i][j][1]}};
                    *(f32_x2*)(mine + (i * 16 + 8) * 72 + j * 8) = f32_x2{{total[i][j][2], total[i][j][3]}};
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int e = (int)threadIdx.x; e < 2048; e += 128) {
            const int row = e / 64, column = e % 64 * 1;
            const idx m_at = m_tile + w * 32 + row, n_at = n_tile + column;
            if (m_at >= m_n || n_at >= n_n) continue;
            const idx m0 = m_at;
            const idx n0 = n_at;
            const float contract0 = *(sums + row * 72 + column);  // contract
            const float load1 = bf16_to_f32(b2[a2_off + n0]);  // load a2
            const float add2 = (contract0 + load1);  // add
            const float cast3 = bf16_to_f32(f32_to_bf16(add2));  // cast f32 to bf16
            const float gelu4 = gelu_f32(cast3);  // gelu
            const float cast5 = bf16_to_f32(f32_to_bf16(gelu4));  // cast f32 to bf16
            b3[a3_off + m0 * a3_m0 + n0] = (unsigned short)(__float_as_uint(cast5) >> 16);
        }
    }
}

