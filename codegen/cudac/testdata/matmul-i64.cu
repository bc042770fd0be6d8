// ==== sm_80 ====
// kernel contraction outer=2 inner=1 "matmul-i64"
// variant: simt-copy-line-one vector=2 tile=[32 32 8 4] 0(  ) 1(* 0 *) 1(0 1 1) 1(1 * 0)
// device functions: copies_wait, copy_16, copy_element, quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

struct alignas(16) u64_x2 { unsigned long long e[2]; };    // 2 u64 at once

struct alignas(16) i64_x2 { long long e[2]; };    // 2 i64 at once

extern "C" __global__ void __launch_bounds__(64, 1)
simt_copy_line_one(
    const long long* __restrict__ b0,
    const long long* __restrict__ b1,
    long long* b2,
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
    const int warp_m = warp / 1, warp_n = warp % 1;

    // The tile of this block, 32 by 32 in panels of 8 along k. Eight rows of tiles go together,
    // so that their operands are met again in the cache.
    const idx tile = (idx)blockIdx.x;
    const idx z_at = quotient(tile, m_tiles * n_tiles);
    const idx in_batch = tile - z_at * m_tiles * n_tiles;
    const idx group = quotient(in_batch, 8 * n_tiles);
    const idx in_group = in_batch - group * 8 * n_tiles;
    const idx high = m_tiles - group * 8 < 8 ? m_tiles - group * 8 : 8;
    const idx m_tile = (group * 8 + modulo(in_group, high)) * 32;
    const idx n_tile = quotient(in_group, high) * 32;

    unsigned long long sum[4][4] = {};    // of the current block of k
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
                const unsigned int e = j * 64 + threadIdx.x;
                const unsigned int line = e / 8, row = e % 8;
                const idx m_at = m_tile + line, kk = k_panel + row;
                const idx m0 = m_at;
                const idx k0 = kk;
                copy_element<8>(panels + into * 2176 + (row * 34 + line) * 8, b0 + (a0_off + m0 * a0_m0 + k0), m_at < m_n && kk < k_n);
            }
            // right panel: 16 bytes of neighbouring lines at once
            #pragma unroll 2
            for (int j = 0; j < 2; j++) {
                const unsigned int e = j * 64 + threadIdx.x;
                const unsigned int row = e / 16, column = e % 16 * 2;
                const idx n_at = n_tile + column, kk = k_panel + row;
                const idx n0 = n_at;
                const idx k0 = kk;
                copy_16(panels + 8704 + into * 2176 + (row * 34 + column) * 8, b1 + (a1_off + n0 + k0 * a1_k0), n_at < n_n && kk < k_n ? 16 : 0);
            }
        }
        copies_commit();
        if (t < 0) continue;
        const int from = (int)(t) & 3;
        const unsigned char* const left_lines = shared + from * 2176 + (0 * 34 + (warp_m * 16 + lane / 8 * 2)) * 8;
        const unsigned char* const right_lines = shared + 8704 + from * 2176 + (0 * 34 + (warp_n * 32 + lane % 8 * 2)) * 8;
        #pragma unroll 8
        for (int row = 0; row < 8; row++) {
            u64_x2 left[2];
            #pragma unroll
            for (int v = 0; v < 2; v++) left[v] = *(const u64_x2*)(left_lines + (row * 34 + v * 8) * 8);
            u64_x2 right[2];
            #pragma unroll
            for (int v = 0; v < 2; v++) right[v] = *(const u64_x2*)(right_lines + (row * 34 + v * 16) * 8);
            #pragma unroll
            for (int i = 0; i < 4; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] = sum[i][j] + left[i / 2].e[i % 2] * right[j / 2].e[j % 2];
        }
    }
    unsigned long long* const sums = (unsigned long long*)(shared + 0);
    #pragma unroll 1
    for (int w = 0; w < 2 && m_tile + w * 16 < m_n; w++) {
        __syncthreads();
        if (warp_m == w) {
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = lane / 8 * 2 + i / 2 * 8 + i % 2;
                #pragma unroll
                for (int j = 0; j < 4; j += 2) {
                    u64_x2 piece;
                    #pragma unroll
                    for (int l = 0; l < 2; l++) piece.e[l] = sum[i][j + l];
                    *(u64_x2*)(sums + row * 34 + warp_n * 32 + lane % 8 * 2 + j / 2 * 16) = piece;
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int e = (int)threadIdx.x; e < 256; e += 64) {
            const int row = e / 16, column = e % 16 * 2;
            const idx m_at = m_tile + w * 16 + row, n_at = n_tile + column;
            if (m_at >= m_n || n_at >= n_n) continue;
            const idx m0 = m_at;
            const idx n0 = n_at;
            const u64_x2 total_v = *(const u64_x2*)(sums + row * 34 + column);
            i64_x2 s0_v;
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                const long long contract0 = (long long)total_v.e[j];  // contract
                s0_v.e[j] = contract0;
            }
            *(i64_x2*)(b2 + (a2_off + m0 * a2_m0 + n0)) = s0_v;
        }
    }
}

// ==== sm_80 ====
// kernel contraction outer=2 inner=1 "matmul-i64"
// variant: plain 0(  ) 1(* 0 *) 1(0 1 1) 1(1 * 0)
// device functions: quotient

typedef int idx;    // places and counts
typedef unsigned int uidx;

extern "C" __global__ void __launch_bounds__(256)
plain(
    const long long* __restrict__ b0,
    const long long* __restrict__ b1,
    long long* b2,
    const idx m_n,
    const idx n_n,
    const idx results,
    const idx k_n,
    const idx a0_off,
    const idx a0_m0,
    const idx a1_off,
    const idx a1_k0,
    const idx a2_off,
    const idx a2_m0)
{
    #pragma unroll 1
    for (idx i = (idx)blockIdx.x * 256 + (idx)threadIdx.x; i < results; i += (idx)gridDim.x * 256) {
        const idx n_at = modulo(i, n_n), row = quotient(i, n_n);
        const idx m_at = modulo(row, m_n), z_at = quotient(row, m_n);
        const idx m0 = m_at;
        const idx n0 = n_at;
        unsigned long long total = 0;
        #pragma unroll 1
        for (idx k_block = 0; k_block < k_n; k_block += 256) {
            const idx k_end = k_n - k_block < 256 ? k_n : k_block + 256;
            unsigned long long sum = 0;
            #pragma unroll 1
            for (idx kk = k_block; kk < k_end; kk++) {
                const idx k0 = kk;
                const unsigned long long left = (unsigned long long)b0[a0_off + m0 * a0_m0 + k0];
                const unsigned long long right = (unsigned long long)b1[a1_off + n0 + k0 * a1_k0];
                sum = sum + left * right;
            }
            total = total + sum;
        }
        const long long contract0 = (long long)total;  // contract
        b2[a2_off + m0 * a2_m0 + n0] = contract0;
    }
}

