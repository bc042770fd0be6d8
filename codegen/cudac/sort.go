package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// sortTemplate orders the values of a row by a key and, where keys are equal, by
// where they were. That is a total order, so that every way of sorting gives the
// same. Its kinds:
//
//   - sort-block: a block of threads sorts rows in shared memory. Tile: rows of a
//     block, threads of a row, the longest row.
//   - sort-merge: blocks sort pieces of a row, which further calls merge in scratch
//     memory: for rows that do not fit.
type sortTemplate struct{}

const (
	// sortThreads is how many threads share a block with several short rows.
	sortThreads    = 128
	maxSortThreads = 1024
	// pieceElems is how many elements of a row a block of sort-merge sorts.
	pieceElems = 1 << pieceShift
	pieceShift = 11
	// mergeThreads is how many threads a block has that merges or stores.
	mergeThreads = 256
)

// sorting is the order of the values of one argument: what several OpSort of it
// share.
type sorting struct {
	id      int
	arg     codegen.Value
	t       ir.DType // of the values
	reverse bool
	values  bool // whether the values are wanted, not their positions alone
	phase   int  // how many sorts must be known before
}

// keyType returns the C++ type of a sorting's keys.
func (s *sorting) keyType() string {
	if s.t.Size() == 8 {
		return "unsigned long long"
	}
	return "unsigned int"
}

// keyBytes returns the size of a key.
func (s *sorting) keyBytes() int {
	if s.t.Size() == 8 {
		return 8
	}
	return 4
}

// sortPlan is what a Sort kernel orders, in an order in which each can be computed.
type sortPlan struct {
	list []*sorting
	of   map[codegen.Value]*sorting // by OpSort
}

func planSorts(k *codegen.Kernel) *sortPlan {
	p := &sortPlan{of: map[codegen.Value]*sorting{}}
	phase := make([]int, len(k.Body))
	for i := range k.Body {
		in := &k.Body[i]
		for _, a := range in.Args {
			phase[i] = max(phase[i], phase[a])
		}
		if in.Op != codegen.OpSort {
			continue
		}
		var s *sorting
		for _, x := range p.list {
			if x.arg == in.Args[0] && x.reverse == in.Reverse {
				s = x
			}
		}
		if s == nil {
			s = &sorting{id: len(p.list), arg: in.Args[0], t: k.Body[in.Args[0]].Type, reverse: in.Reverse, phase: phase[i]}
			p.list = append(p.list, s)
		}
		s.values = s.values || !in.Positions
		p.of[codegen.Value(i)] = s
		phase[i]++
	}
	return p
}

// bytes returns the shared memory of sort-block for rows of n elements, a power of
// two.
func (p *sortPlan) bytes(n int) int {
	key, each := 0, 0
	for _, s := range p.list {
		key = max(key, s.keyBytes())
		each += 4 // the position
		if s.values {
			each += s.t.Size()
		}
	}
	return (key + each) * n
}

func (sortTemplate) loops(b *binding) { layRows(b) }

func (sortTemplate) variants(b *binding, t Target) []*Variant {
	n := powerOfTwo(max(b.loops[innerLoop].n, 2))
	threads := min(n/2, maxSortThreads)
	rows := max(sortThreads/threads, 1)
	if planSorts(b.k).bytes(n*rows) <= t.Shared {
		return []*Variant{{Kind: "sort-block", Vector: 1, Tile: []int{rows, threads, n}}}
	}
	return []*Variant{{Kind: "sort-merge", Vector: 1}}
}

func (sortTemplate) check(b *binding, v *Variant) string {
	if n := b.loops[innerLoop].n; v.Kind == "sort-block" && n > v.Tile[2] {
		return fmt.Sprintf("rows of %d elements are longer than %d", n, v.Tile[2])
	}
	return ""
}

func (sortTemplate) write(g *generator) {
	w := &sortWriter{g: g, plan: planSorts(g.k)}
	if g.v.Kind == "sort-block" {
		w.block()
	} else {
		w.merge()
	}
}

// sortFuncs are the device functions of sorts.
var sortFuncs = []deviceFunc{
	{name: "exchange_pairs", text: `// orders pairs of elements so far apart: rising where the bit of size is not set
template <class K> __device__ __forceinline__ bool comes_after(K a, int at_a, K b, int at_b)
{
    return a > b || (a == b && at_a > at_b);
}
template <class K> __device__ __forceinline__ void exchange_pairs(K* keys, int* from, int n, int size, int apart, int thread, int threads)
{
    #pragma unroll 1
    for (int t = thread; t < n / 2; t += threads) {
        const int low = 2 * t - (t & (apart - 1)), high = low + apart;
        const K a = keys[low], b = keys[high];
        const int at_a = from[low], at_b = from[high];
        if (comes_after(a, at_a, b, at_b) == ((low & size) == 0)) {
            keys[low] = b;
            keys[high] = a;
            from[low] = at_b;
            from[high] = at_a;
        }
    }
}
`},
	{name: "order_float", text: `// keys in the order of floats: NaN above everything, zeros of either sign alike
__device__ __forceinline__ unsigned int order_of(float x)
{
    const unsigned int bits = (unsigned int)__float_as_int(x);
    if (x != x) return 0xffffffffu;
    if (x == 0.0f) return 0x80000000u;
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ unsigned long long order_of(double x)
{
    const unsigned long long bits = (unsigned long long)__double_as_longlong(x);
    if (x != x) return 0xffffffffffffffffull;
    if (x == 0.0) return 0x8000000000000000ull;
    return bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
}
`},
	{name: "sort_few", text: `// orders n keys, a power of two, and where they were (Batcher's bitonic network, 1968): runs of
// size elements, in turn rising and falling, are merged into one twice as long
template <class K> __device__ void sort_few(K* keys, int* from, int n, int thread, int threads)
{
    #pragma unroll 1
    for (int size = 2; size <= n; size *= 2) {
        #pragma unroll 1
        for (int apart = size / 2; apart > 0; apart /= 2) {
            exchange_pairs(keys, from, n, size, apart, thread, threads);
            __syncthreads();
        }
    }
}
`},
	{name: "sort_pairs", text: `// orders n keys, a power of two of at least 64, and where they were, by the same network. Elements
// less than 64 apart are exchanged in registers: a warp has 64, each lane two that are 32 apart
template <class K> __device__ void merge_in_warp(K (&key)[2], int (&at)[2], int first, int size, int lane, int apart)
{
    if (apart == 32) {
        if (comes_after(key[0], at[0], key[1], at[1]) == ((first & size) == 0)) {
            const K k = key[0];
            const int p = at[0];
            key[0] = key[1];
            at[0] = at[1];
            key[1] = k;
            at[1] = p;
        }
        apart = 16;
    }
    #pragma unroll 1
    for (; apart > 0; apart /= 2) {
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            const K other = shuffle_xor(key[half], apart);
            const int other_at = shuffle_xor(at[half], apart);
            const bool rises = ((first + 32 * half + lane) & size) == 0, lower = (lane & apart) == 0;
            if (comes_after(key[half], at[half], other, other_at) == (rises == lower)) {
                key[half] = other;
                at[half] = other_at;
            }
        }
    }
}
template <class K> __device__ void sort_pairs(K* keys, int* from, int n, int thread, int threads)
{
    const int lane = thread % 32;
    #pragma unroll 1
    for (int size = 64; size <= n; size *= 2) {
        #pragma unroll 1
        for (int apart = size / 2; apart >= 64; apart /= 2) {
            exchange_pairs(keys, from, n, size, apart, thread, threads);
            __syncthreads();
        }
        #pragma unroll 1
        for (int first = thread / 32 * 64; first < n; first += threads * 2) {
            K key[2] = {keys[first + lane], keys[first + 32 + lane]};
            int at[2] = {from[first + lane], from[first + 32 + lane]};
            if (size == 64) {
                #pragma unroll 1
                for (int run = 2; run < 64; run *= 2) merge_in_warp(key, at, first, run, lane, run / 2);
            }
            merge_in_warp(key, at, first, size, lane, 32);
            keys[first + lane] = key[0];
            keys[first + 32 + lane] = key[1];
            from[first + lane] = at[0];
            from[first + 32 + lane] = at[1];
        }
        __syncthreads();
    }
}
`},
	{name: "rank_in", text: `// how many of n ordered pairs come before a key that was at a position
template <class K> __device__ idx rank_in(const K* keys, const idx* from, idx n, K key, idx at)
{
    idx low = 0, high = n;
    while (low < high) {
        const idx middle = low + (high - low) / 2;
        if (keys[middle] < key || (keys[middle] == key && from[middle] < at)) low = middle + 1;
        else high = middle;
    }
    return low;
}
`},
}

// needSort asks for the function that orders keys with so many threads and returns
// its name.
func (g *generator) needSort(threads int) string {
	g.need("exchange_pairs")
	if threads < codegen.Lanes {
		g.need("sort_few")
		return "sort_few"
	}
	g.need("shuffle", "sort_pairs")
	return "sort_pairs"
}

// key returns the key of a value in a sorting.
func (g *generator) key(s *sorting, value string) string {
	key := ""
	switch {
	case s.t.IsFloat():
		g.need("order_float")
		key = fmt.Sprintf("order_of(%s)", value)
	case s.t == ir.I64:
		key = fmt.Sprintf("((unsigned long long)%s ^ 0x8000000000000000ull)", value)
	case s.t.IsSigned():
		key = fmt.Sprintf("((unsigned int)%s ^ 0x80000000u)", value)
	default:
		key = fmt.Sprintf("(%s)%s", s.keyType(), value)
	}
	if s.reverse {
		return "~" + key
	}
	return key
}
