// Kernels whose PTX the tests of the parser and of the interpreter share.

struct Coefficients {
    float scale;
    int steps;
    long long shift;
};

__constant__ float table[4] = {1.0f, 2.5f, -3.0f, 4.0f};
__device__ int calls_made = 7;

// y = relu(exp(a) * b + 1), four elements at a time, the rest one by one.
extern "C" __global__ void map(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 p = a[i], q = b[i], r;
        r.x = fmaxf(__expf(p.x) * q.x + 1.0f, 0.0f);
        r.y = fmaxf(__expf(p.y) * q.y + 1.0f, 0.0f);
        r.z = fmaxf(__expf(p.z) * q.z + 1.0f, 0.0f);
        r.w = fmaxf(__expf(p.w) * q.w + 1.0f, 0.0f);
        y[i] = r;
    }
    int rest = n / 4 * 4 + first;
    if (rest < n)
        ((float *)y)[rest] = fmaxf(__expf(((const float *)a)[rest]) * ((const float *)b)[rest] + 1.0f, 0.0f);
}

__device__ __forceinline__ float warp_sum(float v) {
    for (int step = 16; step; step >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// Row sums, one row a block, one value a warp in shared memory.
extern "C" __global__ void row_sum(const float *__restrict__ x, float *__restrict__ y, int columns) {
    __shared__ float partial[32];
    const float *row = x + (long long)blockIdx.x * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        sum += row[c];
    sum = warp_sum(sum);
    if ((threadIdx.x & 31) == 0)
        partial[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0)
            y[blockIdx.x] = sum;
    }
}

// C[M,N] = A[M,K] B[K,N] in tiles of 16 by 16, a thread an element.
extern "C" __global__ void matmul(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n, int k) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += 16) {
        ta[y][x] = row < m && k0 + x < k ? a[row * k + k0 + x] : 0.0f;
        tb[y][x] = k0 + y < k && column < n ? b[(k0 + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

__device__ __noinline__ Coefficients coefficients(float x, int n) {
    Coefficients c;
    c.scale = x;
    c.steps = n;
    c.shift = n * 3ll;
    return c;
}

__device__ __noinline__ float polynomial(float x, Coefficients c) {
    float sum = 0.0f;
    for (int i = 0; i < c.steps; i++)
        sum = sum * x + table[i & 3] + c.scale;
    return sum + c.shift;
}

// Functions out of line that take and return structs, constants and a variable.
extern "C" __global__ void calls(const float *x, float *y, int n, Coefficients extra) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Coefficients c = coefficients(x[i], i & 7);
    c.shift += extra.shift;
    y[i] = polynomial(extra.scale, c);
    if (x[i] > 0.0f)
        atomicAdd(&calls_made, 1);
}

__device__ __noinline__ int triple(int a) { return a * 3 + 1; }
__device__ __noinline__ int flip(int a) { return a ^ 5; }

// An indirect call, and local memory that is indexed at run time.
extern "C" __global__ void indirect(const int *x, int *y) {
    int (*f[2])(int) = {triple, flip};
    int history[8];
    for (int i = 0; i < 8; i++)
        history[i] = x[(threadIdx.x + i) & 31];
    y[threadIdx.x] = f[x[threadIdx.x] & 1](history[x[threadIdx.x] & 7]);
}

// A pointer that may point to shared, local or global memory.
extern "C" __global__ void generic(int *y, int which) {
    __shared__ int shared[32];
    int local[4];
    int *p = which == 0 ? shared : which == 1 ? local : y;
    for (int i = 0; i < 4; i++)
        p[(threadIdx.x & ~3) * (which != 1) + i] = threadIdx.x >> 2;
    __syncwarp();
    y[32 + threadIdx.x] = p[(threadIdx.x & ~3) * (which != 1)] + 100 * __isShared(p) + 200 * __isGlobal(p) + 400 * __isLocal(p);
}

// What lanes of a warp tell each other.
extern "C" __global__ void lanes(unsigned *y, const unsigned *x) {
    unsigned v = x[threadIdx.x], all = 0xffffffffu;
    int same;
    unsigned r = __ballot_sync(all, v & 1) + __any_sync(all, v > 3) + 7 * __all_sync(all, v > 3);
    r ^= __match_any_sync(all, v & 3);
    r ^= __match_all_sync(all, v & 1, &same);
    r += same + __reduce_add_sync(all, v);
    r ^= __reduce_max_sync(all, (int)v);
    r += __shfl_sync(all, v, 3, 8) + 3 * __shfl_up_sync(all, v, 1) + 5 * __shfl_down_sync(all, v, 2, 16);
    r += __syncthreads_count(v & 1) + 3 * __syncthreads_or(v == 3) + 5 * __syncthreads_and(v < 100);
    y[threadIdx.x] = r;
}

// C[64,64] f32 = A[64,K] bf16 times the transpose of B[64,K] bf16; four warps,
// two stages of cp.async, rows of shared memory padded against bank conflicts.
extern "C" __global__ void __launch_bounds__(128) tensor(const unsigned short *__restrict__ a, const unsigned short *__restrict__ b, float *__restrict__ c, int k) {
    const int pitch = 24;
    __shared__ __align__(16) unsigned short ta[2][64 * pitch], tb[2][64 * pitch];
    int t = threadIdx.x, warp = t >> 5, lane = t & 31, row = t >> 1, half = (t & 1) * 8;
    unsigned sa = (unsigned)__cvta_generic_to_shared(ta), sb = (unsigned)__cvta_generic_to_shared(tb);
    float acc[8][4] = {};
    auto load = [&](int stage, int k0) {
        unsigned to = (stage * 64 * pitch + row * pitch + half) * 2;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sa + to), "l"(a + row * k + k0 + half) : "memory");
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sb + to), "l"(b + row * k + k0 + half) : "memory");
        asm volatile("cp.async.commit_group;");
    };
    load(0, 0);
    for (int k0 = 0, stage = 0; k0 < k; k0 += 16, stage ^= 1) {
        if (k0 + 16 < k) {
            load(stage ^ 1, k0 + 16);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        unsigned ra[4], rb[2], at = (stage * 64 * pitch + (warp * 16 + (lane & 15)) * pitch + (lane >> 4) * 8) * 2;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(sa + at) : "memory");
        for (int j = 0; j < 8; j++) {
            unsigned bt = (stage * 64 * pitch + (j * 8 + (lane & 7)) * pitch + ((lane >> 3) & 1) * 8) * 2;
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(sb + bt) : "memory");
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                         : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++) {
        int r = warp * 16 + (lane >> 2), at = j * 8 + (lane & 3) * 2;
        *(float2 *)&c[r * 64 + at] = make_float2(acc[j][0], acc[j][1]);
        *(float2 *)&c[(r + 8) * 64 + at] = make_float2(acc[j][2], acc[j][3]);
    }
}
