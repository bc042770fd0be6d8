package interp

import (
	"math"
	"math/bits"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// fold is a reduction: it takes the elements of a row in blocks of
// codegen.BlockElems, or those of many rows one column at a time, and joins
// them in the order of codegen.Lanes. Both ways give the same bits.
type fold interface {
	result() int // the instruction
	// begin readies a for width rows of n elements, which come as columns or,
	// for a single row, as blocks.
	begin(a *accum, width, n int, columns bool)
	// record reduces elements lo … hi-1 of the tile, a block whose first
	// element is element pos of the row, into rec, recordBytes long.
	record(w *worker, rec []byte, lo, hi, pos int)
	// push joins the next block of a single row.
	push(a *accum, rec []byte)
	// column joins element pos of each of the width rows; the tile holds them.
	column(w *worker, a *accum, pos int)
	// finish puts the results into the register of the instruction.
	finish(w *worker, a *accum)
}

// recordBytes is the size of a reduced block: a value and an index.
const recordBytes = 16

// accum is the state of one fold in one worker.
type accum struct {
	width, n int
	columns  bool
	count    int    // blocks joined so far
	lanes    []byte // width values for each lane
	stack    []byte // width values for each level of the tree
	rec      []byte
}

// tile joins all elements of the tile, which starts at element pos of the
// row, a multiple of codegen.BlockElems.
func (a *accum) tile(w *worker, f fold, pos int) {
	if a.rec == nil {
		a.rec = alloc(recordBytes)
	}
	for lo := 0; lo < w.n; lo += codegen.BlockElems {
		f.record(w, a.rec, lo, min(lo+codegen.BlockElems, w.n), pos+lo)
		f.push(a, a.rec)
	}
}

// addFold makes the fold of instruction v.
func (e *executable) addFold(v int, in *codegen.Instr, arg int) fold {
	f := newFold(v, arg, in.Reduce, e.typeOf(in, 0))
	e.folds = append(e.folds, f)
	return f
}

// newFold returns the fold of a reduction over values of register type t.
func newFold(v, arg int, op codegen.ReduceOp, t ir.DType) fold {
	at := foldAt{v: v, arg: arg}
	switch op {
	case codegen.RAny:
		return &valueFold[uint8]{foldAt: at, id: 0, lanes: 1, join: loopOrBoolVV, block: each(func(x, y uint8) uint8 { return x | y })}
	case codegen.RAll:
		return &valueFold[uint8]{foldAt: at, id: 1, lanes: 1, join: loopAndBoolVV, block: each(func(x, y uint8) uint8 { return x & y })}
	}
	switch laneOf(t) {
	case laneF64:
		return foldOf(at, op, t, floatFolds(loopAddF64VV, loopMulF64VV, loopMaximumF64VV, loopMinimumF64VV))
	case laneF32:
		return foldOf(at, op, t, floatFolds(loopAddF32VV, loopMulF32VV, loopMaximumF32VV, loopMinimumF32VV))
	case laneI64:
		return foldOf(at, op, t, intFolds(loopAddI64VV, loopMulI64VV, loopMaximumI64VV, loopMinimumI64VV))
	case laneU64:
		return foldOf(at, op, t, intFolds(loopAddU64VV, loopMulU64VV, loopMaximumU64VV, loopMinimumU64VV))
	}
	return &argFold[uint8]{foldAt: at, least: op == codegen.RArgMin}
}

// foldOf returns the fold of a reduction from those of its lane.
func foldOf[T elem](at foldAt, op codegen.ReduceOp, t ir.DType, folds [4]valueFold[T]) fold {
	if int(op) >= len(folds) {
		return &argFold[T]{foldAt: at, least: op == codegen.RArgMin}
	}
	f := folds[op]
	f.foldAt, f.t, f.id = at, t, identity[T](op, t)
	return &f
}

func floatFolds[T float64 | float32](sum, prod, most, least func(d, a, b []T)) [4]valueFold[T] {
	return [...]valueFold[T]{
		codegen.RSum:  {lanes: codegen.Lanes, join: sum, block: sumBlock[T]},
		codegen.RProd: {lanes: codegen.Lanes, join: prod, block: prodBlock[T]},
		codegen.RMax:  {lanes: 1, join: most, block: maxBlock[T]},
		codegen.RMin:  {lanes: 1, join: least, block: minBlock[T]},
	}
}

// intFolds have one lane: the order of integers does not matter.
func intFolds[T int64 | uint64](sum, prod, most, least func(d, a, b []T)) [4]valueFold[T] {
	return [...]valueFold[T]{
		codegen.RSum:  {lanes: 1, join: sum, block: each(func(x, y T) T { return x + y })},
		codegen.RProd: {lanes: 1, join: prod, block: each(func(x, y T) T { return x * y })},
		codegen.RMax:  {lanes: 1, join: most, block: each(func(x, y T) T { return max(x, y) })},
		codegen.RMin:  {lanes: 1, join: least, block: each(func(x, y T) T { return min(x, y) })},
	}
}

// identity returns the value that stands for no elements of type t.
func identity[T elem](op codegen.ReduceOp, t ir.DType) T {
	least, greatest := t.Limits()
	switch {
	case op == codegen.RProd:
		return 1
	case op == codegen.RMax && t.IsFloat():
		return T(math.Inf(-1))
	case op == codegen.RMin && t.IsFloat():
		return T(math.Inf(1))
	case op == codegen.RMax:
		return T(least)
	case op == codegen.RMin:
		return T(greatest)
	}
	return 0
}

// identityBits is identity in the form of ir.Scalar.
func identityBits(op codegen.ReduceOp, t ir.DType) uint64 {
	switch t {
	case ir.F64:
		return math.Float64bits(identity[float64](op, t))
	case ir.F32:
		return uint64(math.Float32bits(identity[float32](op, t)))
	}
	return identity[uint64](op, t)
}

// each folds a block one element after another, for operations whose order
// does not matter.
func each[T elem](f func(x, y T) T) func([]T) T {
	return func(a []T) T {
		s := a[0]
		for _, x := range a[1:] {
			s = f(s, x)
		}
		return s
	}
}

// foldAt is the instruction of a fold and its operand.
type foldAt struct{ v, arg int }

func (f *foldAt) result() int { return f.v }

// valueFold joins values. Lanes is 1 where the order does not matter.
type valueFold[T elem] struct {
	foldAt
	id    T
	lanes int
	join  func(d, a, b []T)
	block func(a []T) T
	t     ir.DType
}

func (f *valueFold[T]) begin(a *accum, width, n int, columns bool) {
	a.width, a.n, a.count, a.columns = width, n, 0, columns
	size := sizeOf[T]()
	levels := 1 + bits.Len(uint(n/codegen.BlockElems+1))
	a.stack = grow(a.stack, levels*width*size)
	a.lanes = grow(a.lanes, (f.lanes+1)*width*size)
	if columns {
		fill(view[T](a.lanes), f.id)
	}
}

func (f *valueFold[T]) record(w *worker, rec []byte, lo, hi, _ int) {
	view[T](rec)[0] = f.block(spread[T](w, f.arg, 0)[lo:hi])
}

func (f *valueFold[T]) push(a *accum, rec []byte) { f.add(a, view[T](rec)[:1]) }

// add joins the next block as a binary counter does: the stack holds at level
// l the sum of 2^l blocks if bit l of the count is set. The result equals
// joining neighbours pairwise, level by level, an odd last block moving up.
func (f *valueFold[T]) add(a *accum, s []T) {
	stack := view[T](a.stack)
	level := 0
	for ; a.count>>level&1 != 0; level++ {
		f.join(s, stack[level*a.width:], s)
	}
	copy(stack[level*a.width:], s)
	a.count++
}

func (f *valueFold[T]) column(w *worker, a *accum, pos int) {
	x := spread[T](w, f.arg, 0)
	lanes := view[T](a.lanes)
	at := pos % f.lanes * a.width
	lane := lanes[at : at+a.width]
	f.join(lane, lane, x)
	if f.lanes > 1 && (pos+1)%codegen.BlockElems == 0 {
		f.closeBlock(a)
	}
}

// closeBlock joins the lanes by the binary tree, pushes the block and empties
// the lanes.
func (f *valueFold[T]) closeBlock(a *accum) {
	lanes := view[T](a.lanes)
	for half := f.lanes / 2; half > 0; half /= 2 {
		n := half * a.width
		f.join(lanes[:n], lanes[:n], lanes[n:2*n])
	}
	f.add(a, lanes[:a.width])
	fill(lanes, f.id)
}

func (f *valueFold[T]) finish(w *worker, a *accum) {
	if a.columns && a.n > 0 && (f.lanes == 1 || a.n%codegen.BlockElems != 0) {
		f.closeBlock(a)
	}
	d := view[T](w.scratchOf(f.v))[:a.width]
	w.regs[f.v] = reg{mem: w.scratchOf(f.v)[:a.width*sizeOf[T]()], uniform: a.width == 1}
	fill(d, f.id)
	stack := view[T](a.stack)
	first := true
	for level := 0; a.count>>level != 0; level++ {
		if a.count>>level&1 == 0 {
			continue
		}
		s := stack[level*a.width : (level+1)*a.width]
		if first {
			copy(d, s)
			first = false
		} else {
			f.join(d, s, d)
		}
	}
	if f.t.IsInt() && f.t.Size() < 8 { // sums and products wrapped in 64 bits so far
		wrap(vals[int64](&w.regs[f.v]), f.t)
	}
}

// argFold finds the position of the greatest or least element: the first
// among equals; the first NaN wins.
type argFold[T elem] struct {
	foldAt
	least bool
}

func (f *argFold[T]) begin(a *accum, width, n int, columns bool) {
	a.width, a.n, a.count, a.columns = width, n, 0, columns
	a.lanes = grow(a.lanes, width*sizeOf[T]())
	a.stack = grow(a.stack, width*8)
	clear(a.stack)
}

// beats reports whether a later x takes the place of best.
func (f *argFold[T]) beats(x, best T) bool {
	if best != best {
		return false
	}
	if f.least {
		return x < best || x != x
	}
	return x > best || x != x
}

func (f *argFold[T]) record(w *worker, rec []byte, lo, hi, pos int) {
	x := spread[T](w, f.arg, 0)[lo:hi]
	best := 0
	for i := range x {
		if f.beats(x[i], x[best]) {
			best = i
		}
	}
	view[T](rec)[0] = x[best]
	view[int64](rec[8:])[0] = int64(pos + best)
}

func (f *argFold[T]) push(a *accum, rec []byte) {
	x, best := view[T](rec)[0], view[T](a.lanes)
	if a.count == 0 || f.beats(x, best[0]) {
		best[0] = x
		view[int64](a.stack)[0] = view[int64](rec[8:])[0]
	}
	a.count++
}

func (f *argFold[T]) column(w *worker, a *accum, pos int) {
	x := spread[T](w, f.arg, 0)
	best, index := view[T](a.lanes), view[int64](a.stack)
	if pos == 0 {
		copy(best, x)
		return
	}
	for i := range best {
		if f.beats(x[i], best[i]) {
			best[i], index[i] = x[i], int64(pos)
		}
	}
}

func (f *argFold[T]) finish(w *worker, a *accum) {
	mem := w.scratchOf(f.v)[:a.width*8]
	copy(mem, a.stack)
	w.regs[f.v] = reg{mem: mem, uniform: a.width == 1}
}
