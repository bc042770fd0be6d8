package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
)

// Block lengths of attention. Keys are taken in blocks of a fixed length,
// which fixes the order of sums; how many queries share a block does not
// matter.
const (
	keyBlock   = 64
	queryBlock = 32
	// farOffset is a causal offset beyond any sequence; sums with it do not
	// overflow.
	farOffset = 1 << 40
)

// attentionState is an attention launch: for each batch point a matrix of
// queries, of keys and of values.
type attentionState struct {
	batch         grid
	q, k, v, mask operand
	queries, keys int
	dim, width    int // of a query and key, and of a value
	qStep, kStep  int // from query to query, key to key
	vStep         int
	maskQ, maskK  int
	scale         float32
	offset        int64
	blocks        int // of queries
}

// driveAttention runs the online softmax of Milakov and Gimelshein over blocks
// of keys ("Online normalizer calculation for softmax").
func driveAttention(r *run, par codegen.Parallel) error {
	k := r.exe.kernel
	r.outer.build(r.dims, r.allAxes(0, k.Outer), r.slots)
	if r.outer.n == 0 {
		return nil
	}
	a := &r.attention
	query, value, key, dim := k.Outer-2, k.Outer-1, k.Outer, k.Outer+1
	a.batch.build(r.dims, r.allAxes(0, query), r.slots)
	a.queries, a.width, a.keys, a.dim = r.dims[query], r.dims[value], r.dims[key], r.dims[dim]
	a.q, a.qStep = r.matrix(0, query, dim)
	a.k, a.kStep = r.matrix(1, key, dim)
	a.v, a.vStep = r.matrix(2, key, value)
	if k.Attention.HasMask {
		a.mask, a.maskQ = r.matrix(3, query, key)
		a.maskK = a.mask.step
	}
	a.scale = math.Float32frombits(uint32(r.launch.Params[0]))
	if k.Attention.Causal {
		a.offset = max(-farOffset, min(farOffset, int64(r.launch.Params[1])))
	}
	a.blocks = (a.queries + queryBlock - 1) / queryBlock
	work := min(a.queries, queryBlock) * max(1, a.keys) * (a.dim + a.width + 8)
	err := par.For(a.batch.n*a.blocks, max(1, grain(1)/work), (*attentionTask)(r))
	a.q.mem, a.k.mem, a.v.mem, a.mask.mem = nil, nil, nil, nil
	return err
}

// matrix returns the operand of an access as lines along axis row with
// elements along axis column, and the step from line to line.
func (r *run) matrix(access, row, column int) (operand, int) {
	k := r.exe.kernel
	b := k.Accesses[access].Buffer
	s := r.slots[access].strides
	return operand{slot: access, mem: r.mem[b], dtype: k.Buffers[b].DType, step: s[column]}, s[row]
}

// attentionScratch is what a worker needs for a block of queries.
type attentionScratch struct {
	scores  []float32 // queryBlock × keyBlock
	most    []float32 // running maximum of each query
	sum     []float32 // running sum of each query
	values  []float32 // a block of V in F32
	visible []int
	weights []float32
	bias    []float32
	allowed []uint8
}

func newAttentionScratch() *attentionScratch {
	return &attentionScratch{
		scores: make([]float32, queryBlock*keyBlock), most: make([]float32, queryBlock), sum: make([]float32, queryBlock),
		visible: make([]int, 0, keyBlock), weights: make([]float32, keyBlock),
		bias: make([]float32, keyBlock), allowed: make([]uint8, keyBlock),
	}
}

type attentionTask run

func (t *attentionTask) Run(id, lo, hi int) {
	r := (*run)(t)
	w := r.worker(id)
	if w.attention == nil {
		w.attention = newAttentionScratch()
	}
	for i := lo; i < hi; i++ {
		w.attend(i/r.attention.blocks, i%r.attention.blocks*queryBlock)
	}
}

// attend computes the results of a block of queries, from query m0 on.
func (w *worker) attend(batch, m0 int) {
	r, s := w.run, w.attention
	a := &r.attention
	coord := w.outer[:len(a.batch.dims)]
	a.batch.place(batch, coord)
	base := func(o *operand) int { return r.slots[o.slot].offset + a.batch.dot(o.slot, coord) }
	m := min(queryBlock, a.queries-m0)
	w.rowsAt = lines(w.rowsAt, base(&a.q)+m0*a.qStep, a.qStep, m)
	w.acc = grow(w.acc, m*a.width*4)
	clear(w.acc)
	clear(s.sum)
	fill(s.most, float32(math.Inf(-1)))
	maskAt := 0
	if r.exe.kernel.Attention.HasMask {
		maskAt = base(&a.mask) + m0*a.maskQ
	}
	for j0 := 0; j0 < a.keys; j0 += keyBlock {
		if r.exe.kernel.Attention.Causal && int64(j0) > int64(m0+m-1)+a.offset {
			break // no query of the block sees these keys or later ones
		}
		n := min(keyBlock, a.keys-j0)
		w.colsAt = lines(w.colsAt, base(&a.k)+j0*a.kStep, a.kStep, n)
		w.score(m, n)
		s.values = growF32(s.values, n*a.width)
		for j := range n {
			a.v.read(s.values[j*a.width:(j+1)*a.width], base(&a.v)+(j0+j)*a.vStep)
		}
		for i := range m {
			w.see(i, m0+i, j0, n, maskAt+i*a.maskQ+j0*a.maskK)
			w.absorb(i)
		}
	}
	acc := view[float32](w.acc)
	for i := range m {
		if s.sum[i] != 0 {
			row := acc[i*a.width : (i+1)*a.width]
			loopDivF32VS(row, row, s.sum[i])
		}
	}
	w.epilogue(w.acc, 4, (batch*a.queries+m0)*a.width, m*a.width)
}

// lines lists n positions from first on, step apart.
func lines(at []int, first, step, n int) []int {
	at = at[:0]
	for i := range n {
		at = append(at, first+i*step)
	}
	return at
}

// score computes the scaled products of the block's queries and keys.
func (w *worker) score(m, n int) {
	a, s := &w.run.attention, w.attention
	scores := s.scores[:m*keyBlock]
	clear(scores)
	w.packA = growF32(w.packA, (queryBlock+regM)*codegen.KBlock)
	w.packB = growF32(w.packB, (keyBlock+regN)*codegen.KBlock)
	for k0 := 0; k0 < a.dim; k0 += codegen.KBlock {
		k := min(codegen.KBlock, a.dim-k0)
		pack(w.packA, regM, &a.q, w.rowsAt[:m], k0, k)
		pack(w.packB, regN, &a.k, w.colsAt[:n], k0, k)
		multiply(scores, keyBlock, w.packA, w.packB, m, n, k)
	}
	loopMulF32VS(scores, scores, a.scale)
}

// see lists the keys of the block that a query sees and adds the additive
// mask to their scores. A key that bool or causal masking hides has no effect
// at all, so that a NaN in it is harmless.
func (w *worker) see(i, query, j0, n, maskAt int) {
	a, s := &w.run.attention, w.attention
	spec := &w.run.exe.kernel.Attention
	row := s.scores[i*keyBlock : i*keyBlock+n]
	if spec.Causal {
		row = row[:max(0, min(int64(n), int64(query-j0+1)+a.offset))]
	}
	s.visible = s.visible[:0]
	switch {
	case len(row) == 0:
	case spec.BoolMask:
		gather(s.allowed[:len(row)], view[uint8](a.mask.mem), maskAt, a.maskK)
		for j, ok := range s.allowed[:len(row)] {
			if ok != 0 {
				s.visible = append(s.visible, j)
			}
		}
		return
	case spec.HasMask:
		a.mask.read(s.bias[:len(row)], maskAt)
		loopAddF32VV(row, row, s.bias[:len(row)])
	}
	for j := range row {
		s.visible = append(s.visible, j)
	}
}

// absorb joins the visible keys of the block to the running maximum, sum and
// result of a query.
func (w *worker) absorb(i int) {
	a, s := &w.run.attention, w.attention
	row := s.scores[i*keyBlock : (i+1)*keyBlock]
	most := s.most[i]
	for _, j := range s.visible {
		most = max(most, row[j])
	}
	if len(s.visible) == 0 || most == float32(math.Inf(-1)) {
		return
	}
	out := view[float32](w.acc)[i*a.width : (i+1)*a.width]
	if most != s.most[i] {
		fade := expF32(s.most[i] - most)
		s.sum[i] = float32(s.sum[i] * fade)
		loopMulF32VS(out, out, fade)
		s.most[i] = most
	}
	weights := s.weights[:len(s.visible)]
	for n, j := range s.visible {
		weights[n] = row[j] - most
	}
	loopExpF32(weights, weights)
	sum := float32(0)
	for _, x := range weights {
		sum += x
	}
	s.sum[i] += sum
	value := func(n int) []float32 {
		j := s.visible[n]
		return s.values[j*a.width : (j+1)*a.width]
	}
	n := 0
	for ; n+4 <= len(s.visible); n += 4 {
		addLines4(out, weights[n:n+4], value(n), value(n+1), value(n+2), value(n+3))
	}
	for ; n < len(s.visible); n++ {
		addLine(out, weights[n], value(n))
	}
}
