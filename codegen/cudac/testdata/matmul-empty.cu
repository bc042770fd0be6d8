// ==== sm_80 ====
// kernel contraction outer=2 inner=1 "matmul-empty"
// variant: simt-copy-line-one vector=4 tile=[128 128 8 4] 0(  ) 0(  ) 2(00 01 *1) 0(  )
// device functions: copies_wait, copy_16, copy_element, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) f32_x4 { float e[4]; };    // 4 f32 at once

extern "C" __global__ void __launch_bounds__(256, 1)
simt_copy_line_one(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    float* b2,
    const idx m_n,
    const idx n_n,
    const idx k_n,
    const idx m_tiles,
    const idx n_tiles,
    const idx k_panels,
    const idx a0_off,
    const idx n_d1,
    const idx a1_off,
    const idx a2_off,
    const idx a2_n0)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned int panels = (unsigned int)__cvta_generic_to_shared(shared);
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
    const int warp_m = warp / 2, warp_n = warp % 2;

    // The tile of this block, 128 by 128 in panels of 8 along k. Eight rows of tiles go together,
    // so that their operands are met again in the cache.
    const idx tile = (idx)blockIdx.x;
    const idx z_at = quotient(tile, m_tiles * n_tiles);
    const idx in_batch = tile - z_at * m_tiles * n_tiles;
    const idx group = quotient(in_batch, 8 * n_tiles);
    const idx in_group = in_batch - group * 8 * n_tiles;
    const idx high = m_tiles - group * 8 < 8 ? m_tiles - group * 8 : 8;
    const idx m_tile = (group * 8 + modulo(in_group, high)) * 128;
    const idx n_tile = quotient(in_group, high) * 128;

    float sum[8][8] = {};    // of the current block of k
    #pragma unroll 1
    // Panel t is multiplied while the next 3 are on their way.
    #pragma unroll 1
    for (idx t = -3; t < k_panels; t++) {
        if (t >= 0) {
            copies_wait<2>();    // panel t is here
            __syncthreads();
        }
        if (t + 3 < k_panels) {
            const idx k_panel = (t + 3) * 8;
            const int into = (int)(t + 3) & 3;
            // left panel: element by element
            #pragma unroll 4
            for (int j = 0; j < 4; j++) {
                const unsigned int e = j * 256 + threadIdx.x;
                const unsigned int line = e / 8, row = e % 8;
                const idx m_at = m_tile + line, kk = k_panel + row;
                copy_element<4>(panels + into * 4224 + (row * 132 + line) * 4, b0 + (a0_off), m_at < m_n && kk < k_n);
            }
            // right panel: 16 bytes of neighbouring lines at once
            #pragma unroll 1
            for (int j = 0; j < 1; j++) {
                const unsigned int e = j * 256 + threadIdx.x;
                const unsigned int row = e / 32, column = e % 32 * 4;
                const idx n_at = n_tile + column, kk = k_panel + row;
                const idx n1 = modulo(n_at, n_d1);
                const idx n0 = quotient(n_at, n_d1);
                copy_16(panels + 16896 + into * 4224 + (row * 132 + column) * 4, b1 + (a1_off + n1), n_at < n_n && kk < k_n ? 16 : 0);
            }
        }
        copies_commit();
        if (t < 0) continue;
        const int from = (int)(t) & 3;
        const unsigned char* const left_lines = shared + from * 4224 + (0 * 132 + (warp_m * 32 + lane / 8 * 4)) * 4;
        const unsigned char* const right_lines = shared + 16896 + from * 4224 + (0 * 132 + (warp_n * 64 + lane % 8 * 4)) * 4;
        #pragma unroll 2
        for (int row = 0; row < 8; row++) {
            f32_x4 left[2];
            #pragma unroll
            for (int v = 0; v < 2; v++) left[v] = *(const f32_x4*)(left_lines + (row * 132 + v * 16) * 4);
            f32_x4 right[2];
            #pragma unroll
            for (int v = 0; v < 2; v++) right[v] = *(const f32_x4*)(right_lines + (row * 132 + v * 32) * 4);
            #pragma unroll
            for (int i = 0; i < 8; i++)
                #pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] = __fmaf_rn(left[i / 4].e[i % 4], right[j / 4].e[j % 4], sum[i][j]);
        }
    }
    // Sums of blocks are added from +0, so that none is -0.
    #pragma unroll
    for (int i = 0; i < 8; i++)
        #pragma unroll
        for (int j = 0; j < 8; j++)
            sum[i][j] = 0 + sum[i][j];
    float* const sums = (float*)(shared + 0);
    #pragma unroll 1
    for (int w = 0; w < 4 && m_tile + w * 32 < m_n; w++) {
        __syncthreads();
        if (warp_m == w) {
            #pragma unroll
            for (int i = 0; i < 8; i++) {
                const int row = lane / 8 * 4 + i / 4 * 16 + i % 4;
                #pragma unroll
                for (int j = 0; j < 8; j += 4) {
                    f32_x4 piece;
                    #pragma unroll
                    for (int l = 0; l < 4; l++) piece.e[l] = sum[i][j + l];
                    *(f32_x4*)(sums + row * 132 + warp_n * 64 + lane % 8 * 4 + j / 4 * 32) = piece;
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int e = (int)threadIdx.x; e < 1024; e += 256) {
            const int row = e / 32, column = e % 32 * 4;
            const idx m_at = m_tile + w * 32 + row, n_at = n_tile + column;
            if (m_at >= m_n || n_at >= n_n) continue;
            const idx n1 = modulo(n_at, n_d1);
            const idx n0 = quotient(n_at, n_d1);
            const f32_x4 total_v = *(const f32_x4*)(sums + row * 132 + column);
            f32_x4 s0_v;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const float contract0 = total_v.e[j];  // contract
                s0_v.e[j] = contract0;
            }
            *(f32_x4*)(b2 + (a2_off + n0 * a2_n0 + n1)) = s0_v;
        }
    }
}

// ==== sm_80 ====
// kernel contraction outer=2 inner=1 "matmul-empty"
// variant: plain 0(  ) 0(  ) 2(00 01 *1) 0(  )
// device functions: quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
plain(
    const float* __restrict__ b0,
    const float* __restrict__ b1,
    float* b2,
    const idx m_n,
    const idx n_n,
    const idx results,
    const idx n_d1,
    const idx k_n,
    const idx a0_off,
    const idx a1_off,
    const idx a2_off,
    const idx a2_n0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < results; i += (idx)gridDim.x * 256) {
        const idx n_at = modulo(i, n_n), row = quotient(i, n_n);
        const idx m_at = modulo(row, m_n), z_at = quotient(row, m_n);
        const idx n1 = modulo(n_at, n_d1);
        const idx n0 = quotient(n_at, n_d1);
        float total = 0;
        #pragma unroll 1
        for (idx k_block = 0; k_block < k_n; k_block += 256) {
            const idx k_end = k_n - k_block < 256 ? k_n : k_block + 256;
            float sum = 0;
            #pragma unroll 1
            for (idx kk = k_block; kk < k_end; kk++) {
                const float left = b0[a0_off];
                const float right = b1[a1_off + n1];
                sum = __fmaf_rn(left, right, sum);
            }
            total = total + sum;
        }
        const float contract0 = total;  // contract
        b2[a2_off + n0 * a2_n0 + n1] = contract0;
    }
}

