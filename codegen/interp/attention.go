package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
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

// attention is a compiled attention kernel.
type attention[T float32 | float64] struct {
	q, k, v, mask *codec[T] // mask: nil if there is none to add
	scale         *codec[T] // nil: a parameter
	scaleAt       int       // the access of the scale
	multiply      multiplier[T]
	exp           func(d, a []T)
}

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
	offset        int64
	blocks        int // of queries
}

// attentionDriver compiles an attention kernel.
func (e *executable) attentionDriver() driver {
	if e.kernel.Body[0].Type == ir.F64 {
		return newAttention(e.kernel, multiplyF64, loopExpF64).drive
	}
	return newAttention(e.kernel, multiply[float32], loopExpF32).drive
}

func newAttention[T float32 | float64](k *codegen.Kernel, f multiplier[T], exp func(d, a []T)) *attention[T] {
	at := func(access int) *codec[T] { return codecOf[T](k.Buffers[k.Accesses[access].Buffer].DType) }
	x := &attention[T]{q: at(0), k: at(1), v: at(2), multiply: f, exp: exp}
	if k.Attention.HasMask && !k.Attention.BoolMask {
		x.mask = at(3)
	}
	if k.Attention.ScaleRead {
		if x.scaleAt = 3; k.Attention.HasMask {
			x.scaleAt++
		}
		x.scale = at(x.scaleAt)
	}
	return x
}

// drive runs the online softmax of Milakov and Gimelshein over blocks of keys
// ("Online normalizer calculation for softmax").
func (x *attention[T]) drive(r *run, par codegen.Parallel) error {
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
	if k.Attention.Causal {
		a.offset = max(-farOffset, min(farOffset, int64(r.launch.Params[1])))
	}
	a.blocks = (a.queries + queryBlock - 1) / queryBlock
	work := min(a.queries, queryBlock) * max(1, a.keys) * (a.dim + a.width + 8)
	t, _ := r.task.(*attentionTask[T])
	if t == nil {
		t = &attentionTask[T]{x: x, r: r}
		r.task = t
	}
	for len(t.scratch) < len(r.workers) {
		t.scratch = append(t.scratch, newAttentionScratch[T]())
	}
	if x.scale != nil {
		x.scale.read(t.scale[:], r.mem[k.Accesses[x.scaleAt].Buffer], r.slots[x.scaleAt].offset, 1)
	} else {
		setBits(bytesOf(t.scale[:]), laneOf(k.Body[0].Type), r.launch.Params[0])
	}
	err := par.For(a.batch.n*a.blocks, max(1, grain(1)/work), t)
	a.q.mem, a.k.mem, a.v.mem, a.mask.mem = nil, nil, nil, nil
	return err
}

// matrix returns the operand of an access as lines along axis row with
// elements along axis column, and the step from line to line.
func (r *run) matrix(access, row, column int) (operand, int) {
	s := r.slots[access].strides
	return operand{slot: access, mem: r.mem[r.exe.kernel.Accesses[access].Buffer], step: s[column]}, s[row]
}

// attentionScratch is what a worker needs for a block of queries.
type attentionScratch[T float32 | float64] struct {
	scores  []T // queryBlock × keyBlock
	most    []T // running maximum of each query
	sum     []T // running sum of each query
	values  []T // a block of V
	visible []int
	weights []T
	bias    []T
	fade    [1]T
	allowed []uint8
}

func newAttentionScratch[T float32 | float64]() *attentionScratch[T] {
	return &attentionScratch[T]{
		scores: make([]T, queryBlock*keyBlock), most: make([]T, queryBlock), sum: make([]T, queryBlock),
		visible: make([]int, 0, keyBlock), weights: make([]T, keyBlock),
		bias: make([]T, keyBlock), allowed: make([]uint8, keyBlock),
	}
}

// attentionTask is the loop over blocks of queries; it lives in the run.
type attentionTask[T float32 | float64] struct {
	x       *attention[T]
	r       *run
	scale   [1]T
	scratch []*attentionScratch[T] // by worker
}

func (t *attentionTask[T]) Run(id, lo, hi int) {
	w, s := t.r.worker(id), t.scratch[id]
	for i := lo; i < hi; i++ {
		t.x.attend(w, s, t.scale[0], i/t.r.attention.blocks, i%t.r.attention.blocks*queryBlock)
	}
}

// attend computes the results of a block of queries, from query m0 on.
func (x *attention[T]) attend(w *worker, s *attentionScratch[T], scale T, batch, m0 int) {
	r := w.run
	a := &r.attention
	coord := w.outer[:len(a.batch.dims)]
	a.batch.place(batch, coord)
	base := func(o *operand) int { return r.slots[o.slot].offset + a.batch.dot(o.slot, coord) }
	m := min(queryBlock, a.queries-m0)
	w.rowsAt = lines(w.rowsAt, base(&a.q)+m0*a.qStep, a.qStep, m)
	out := scratch[T](&w.acc, m*a.width)
	clear(out)
	clear(s.sum)
	fill(s.most, T(math.Inf(-1)))
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
		x.score(w, s.scores[:m*keyBlock], scale, m, n)
		s.values = grown(s.values, n*a.width)
		for j := range n {
			x.v.read(s.values[j*a.width:(j+1)*a.width], a.v.mem, base(&a.v)+(j0+j)*a.vStep, a.v.step)
		}
		for i := range m {
			x.see(w, s, i, m0+i, j0, n, maskAt+i*a.maskQ+j0*a.maskK)
			x.absorb(s, out[i*a.width:(i+1)*a.width], i)
		}
	}
	for i := range m {
		if s.sum[i] != 0 {
			for j := range a.width {
				out[i*a.width+j] /= s.sum[i]
			}
		}
	}
	w.epilogue(w.acc, sizeOf[T](), (batch*a.queries+m0)*a.width, m*a.width)
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
func (x *attention[T]) score(w *worker, scores []T, scale T, m, n int) {
	a := &w.run.attention
	clear(scores)
	packA := scratch[T](&w.packA, (queryBlock+regM)*codegen.KBlock)
	packB := scratch[T](&w.packB, (keyBlock+regN)*codegen.KBlock)
	for k0 := 0; k0 < a.dim; k0 += codegen.KBlock {
		k := min(codegen.KBlock, a.dim-k0)
		x.q.pack(w, packA, regM, &a.q, w.rowsAt[:m], k0, k)
		x.k.pack(w, packB, regN, &a.k, w.colsAt[:n], k0, k)
		x.multiply(scores, keyBlock, packA, packB, m, n, k)
	}
	for i := range scores {
		scores[i] = T(scores[i] * scale)
	}
}

// see lists the keys of the block that a query sees and adds the additive
// mask to their scores. A key that bool or causal masking hides has no effect
// at all, so that a NaN in it is harmless.
func (x *attention[T]) see(w *worker, s *attentionScratch[T], i, query, j0, n, maskAt int) {
	a := &w.run.attention
	spec := &w.run.exe.kernel.Attention
	row := s.scores[i*keyBlock : i*keyBlock+n]
	if spec.Causal {
		row = row[:max(0, min(int64(n), int64(query-j0+1)+a.offset))]
	}
	s.visible = s.visible[:0]
	switch {
	case len(row) == 0:
	case spec.BoolMask:
		readSame(s.allowed[:len(row)], a.mask.mem, maskAt, a.maskK)
		for j, ok := range s.allowed[:len(row)] {
			if ok != 0 {
				s.visible = append(s.visible, j)
			}
		}
		return
	case spec.HasMask:
		x.mask.read(s.bias[:len(row)], a.mask.mem, maskAt, a.maskK)
		for j := range row {
			row[j] += s.bias[j]
		}
	}
	for j := range row {
		s.visible = append(s.visible, j)
	}
}

// absorb joins the visible keys of the block to the running maximum, sum and
// result of query i.
func (x *attention[T]) absorb(s *attentionScratch[T], out []T, i int) {
	row := s.scores[i*keyBlock : (i+1)*keyBlock]
	most := s.most[i]
	for _, j := range s.visible {
		most = max(most, row[j])
	}
	if len(s.visible) == 0 || most == T(math.Inf(-1)) {
		return
	}
	if most != s.most[i] {
		s.fade[0] = s.most[i] - most
		x.exp(s.fade[:], s.fade[:])
		fade := s.fade[0]
		s.sum[i] = T(s.sum[i] * fade)
		for j := range out {
			out[j] = T(out[j] * fade)
		}
		s.most[i] = most
	}
	weights := s.weights[:len(s.visible)]
	for n, j := range s.visible {
		weights[n] = row[j] - most
	}
	x.exp(weights, weights)
	sum := T(0)
	for _, x := range weights {
		sum += x
	}
	s.sum[i] += sum
	width := len(out)
	value := func(n int) []T {
		j := s.visible[n]
		return s.values[j*width : (j+1)*width]
	}
	n := 0
	for ; n+4 <= len(s.visible); n += 4 {
		addLines4(out, weights[n:n+4], value(n), value(n+1), value(n+2), value(n+3))
	}
	for ; n < len(s.visible); n++ {
		addLine(out, weights[n], value(n))
	}
}
