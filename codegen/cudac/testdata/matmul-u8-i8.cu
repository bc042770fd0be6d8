// ==== sm_80 ====
// kernel contraction outer=2 inner=1 "matmul-u8-i8"
// variant: mma-k-each-one vector=4 tile=[16 64 64 4] 0(  ) 1(* 0 *) 1(0 1 1) 1(1 * 0)
// device functions: copies_wait, copy_16, multiply_u8_i8, piece, quotient, read_matrices

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(8) u32_x2 { unsigned int e[2]; };    // 2 u32 at once

struct alignas(16) u32_x4 { unsigned int e[4]; };    // 4 u32 at once

struct alignas(16) i32_x4 { int e[4]; };    // 4 i32 at once

extern "C" __global__ void __launch_bounds__(128, 1)
mma_k_each_one(
    const unsigned char* __restrict__ b0,
    const signed char* __restrict__ b1,
    int* b2,
    const idx m_n,
    const idx n_n,
    const idx k_n,
    const idx m_tiles,
    const idx n_tiles,
    const idx k_panels,
    const idx a0_off,
    const idx a0_m0,
    const idx a1_off,
    const idx a1_k0,
    const idx a2_off,
    const idx a2_m0)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned int panels = (unsigned int)__cvta_generic_to_shared(shared);
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
    const int warp_m = warp / 4, warp_n = warp % 4;

    // The tile of this block, 16 by 64 in panels of 64 along k. Eight rows of tiles go together,
    // so that their operands are met again in the cache.
    const idx tile = (idx)blockIdx.x;
    const idx z_at = quotient(tile, m_tiles * n_tiles);
    const idx in_batch = tile - z_at * m_tiles * n_tiles;
    const idx group = quotient(in_batch, 8 * n_tiles);
    const idx in_group = in_batch - group * 8 * n_tiles;
    const idx high = m_tiles - group * 8 < 8 ? m_tiles - group * 8 : 8;
    const idx m_tile = (group * 8 + modulo(in_group, high)) * 16;
    const idx n_tile = quotient(in_group, high) * 64;

    unsigned int sum[1][2][4] = {};    // of the current block of k
    #pragma unroll 1
    // Panel t is multiplied while the next 3 are on their way.
    #pragma unroll 1
    for (idx t = -3; t < k_panels; t++) {
        if (t >= 0) {
            copies_wait<2>();    // panel t is here
            __syncthreads();
        }
        if (t + 3 < k_panels) {
            const idx k_panel = (t + 3) * 64;
            const int into = (int)(t + 3) & 3;
            // left panel: 16 bytes along k at once
            #pragma unroll 1
            for (int j = 0; j < 1; j++) {
                const unsigned int e = j * 128 + threadIdx.x;
                if (e >= 64) break;
                const unsigned int line = e / 4, column = e % 4 * 16;
                const idx m_at = m_tile + line, kk = k_panel + column;
                const idx m0 = m_at;
                const idx k0 = kk;
                const int there = !(m_at < m_n && kk < k_n) ? 0 : k_n - kk < 16 ? (int)(k_n - kk) * 1 : 16;
                copy_16(panels + into * 1024 + piece<4>(line, column / 16) + column % 16 * 1, b0 + (a0_off + m0 * a0_m0 + k0), there);
            }
            // right panel: element by element, through a register
            #pragma unroll 4
            for (int j = 0; j < 32; j++) {
                const unsigned int e = j * 128 + threadIdx.x;
                const unsigned int line = e / 4 % 64, row = e % 4 + e / 256 * 4;
                const idx n_at = n_tile + line, kk = k_panel + row;
                const idx n0 = n_at;
                const idx k0 = kk;
                signed char factor = 0;
                if (n_at < n_n && kk < k_n) {
                    factor = b1[a1_off + n0 + k0 * a1_k0];
                }
                *(signed char*)(shared + 4096 + into * 4096 + piece<4>(line, row / 16) + row % 16 * 1) = factor;
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
                for (int j = 0; j < 2; j++) multiply_u8_i8(sum[i][j], left[i], right[j]);
        }
    }
    unsigned int* const sums = (unsigned int*)(shared + 0);
    #pragma unroll 1
    for (int w = 0; w < 1 && m_tile + w * 16 < m_n; w++) {
        __syncthreads();
        if (warp_m == w) {
            unsigned int* const mine = sums + lane / 4 * 72 + warp_n * 16 + lane % 4 * 2;
            #pragma unroll
            for (int i = 0; i < 1; i++) {
                #pragma unroll
                for (int j = 0; j < 2; j++) {
                    *(u32_x2*)(mine + (i * 16 + 0) * 72 + j * 8) = u32_x2{{sum[i][j][0], sum[i][j][1]}};
                    *(u32_x2*)(mine + (i * 16 + 8) * 72 + j * 8) = u32_x2{{sum[i][j][2], sum[i][j][3]}};
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
            const u32_x4 total_v = *(const u32_x4*)(sums + row * 72 + column);
            i32_x4 s0_v;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const int contract0 = (int)total_v.e[j];  // contract
                s0_v.e[j] = contract0;
            }
            *(i32_x4*)(b2 + (a2_off + m0 * a2_m0 + n0)) = s0_v;
        }
    }
}

// ==== sm_80 ====
// kernel contraction outer=2 inner=1 "matmul-u8-i8"
// variant: mma-each-each tile=[64 64 64 4] 0(  ) 1(* 0 *) 1(0 1 1) 1(1 * 0)
// device functions: copies_wait, multiply_u8_i8, piece, quotient, read_matrices

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(8) u32_x2 { unsigned int e[2]; };    // 2 u32 at once

extern "C" __global__ void __launch_bounds__(128, 1)
mma_each_each(
    const unsigned char* __restrict__ b0,
    const signed char* __restrict__ b1,
    int* b2,
    const idx m_n,
    const idx n_n,
    const idx k_n,
    const idx m_tiles,
    const idx n_tiles,
    const idx k_panels,
    const idx a0_off,
    const idx a0_m0,
    const idx a1_off,
    const idx a1_k0,
    const idx a2_off,
    const idx a2_m0)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned int panels = (unsigned int)__cvta_generic_to_shared(shared);
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
    const int warp_m = warp / 2, warp_n = warp % 2;

    // The tile of this block, 64 by 64 in panels of 64 along k. Eight rows of tiles go together,
    // so that their operands are met again in the cache.
    const idx tile = (idx)blockIdx.x;
    const idx z_at = quotient(tile, m_tiles * n_tiles);
    const idx in_batch = tile - z_at * m_tiles * n_tiles;
    const idx group = quotient(in_batch, 8 * n_tiles);
    const idx in_group = in_batch - group * 8 * n_tiles;
    const idx high = m_tiles - group * 8 < 8 ? m_tiles - group * 8 : 8;
    const idx m_tile = (group * 8 + modulo(in_group, high)) * 64;
    const idx n_tile = quotient(in_group, high) * 64;

    unsigned int sum[2][4][4] = {};    // of the current block of k
    #pragma unroll 1
    // Panel t is multiplied while the next 3 are on their way.
    #pragma unroll 1
    for (idx t = -3; t < k_panels; t++) {
        if (t >= 0) {
            copies_wait<2>();    // panel t is here
            __syncthreads();
        }
        if (t + 3 < k_panels) {
            const idx k_panel = (t + 3) * 64;
            const int into = (int)(t + 3) & 3;
            // left panel: element by element, through a register
            #pragma unroll 4
            for (int j = 0; j < 32; j++) {
                const unsigned int e = j * 128 + threadIdx.x;
                const unsigned int line = e / 32 % 64, row = e % 32 + e / 2048 * 32;
                const idx m_at = m_tile + line, kk = k_panel + row;
                const idx m0 = m_at;
                const idx k0 = kk;
                unsigned char factor = 0;
                if (m_at < m_n && kk < k_n) {
                    factor = b0[a0_off + m0 * a0_m0 + k0];
                }
                *(unsigned char*)(shared + into * 4096 + piece<4>(line, row / 16) + row % 16 * 1) = factor;
            }
            // right panel: element by element, through a register
            #pragma unroll 4
            for (int j = 0; j < 32; j++) {
                const unsigned int e = j * 128 + threadIdx.x;
                const unsigned int line = e / 4 % 64, row = e % 4 + e / 256 * 4;
                const idx n_at = n_tile + line, kk = k_panel + row;
                const idx n0 = n_at;
                const idx k0 = kk;
                signed char factor = 0;
                if (n_at < n_n && kk < k_n) {
                    factor = b1[a1_off + n0 + k0 * a1_k0];
                }
                *(signed char*)(shared + 16384 + into * 4096 + piece<4>(line, row / 16) + row % 16 * 1) = factor;
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
                for (int j = 0; j < 4; j++) multiply_u8_i8(sum[i][j], left[i], right[j]);
        }
    }
    unsigned int* const sums = (unsigned int*)(shared + 0);
    #pragma unroll 1
    for (int w = 0; w < 2 && m_tile + w * 32 < m_n; w++) {
        __syncthreads();
        if (warp_m == w) {
            unsigned int* const mine = sums + lane / 4 * 72 + warp_n * 32 + lane % 4 * 2;
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    *(u32_x2*)(mine + (i * 16 + 0) * 72 + j * 8) = u32_x2{{sum[i][j][0], sum[i][j][1]}};
                    *(u32_x2*)(mine + (i * 16 + 8) * 72 + j * 8) = u32_x2{{sum[i][j][2], sum[i][j][3]}};
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
            const int contract0 = (int)*(sums + row * 72 + column);  // contract
            b2[a2_off + m0 * a2_m0 + n0] = contract0;
        }
    }
}

