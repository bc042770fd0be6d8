package interp

import (
	"fmt"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// step computes one value over the current tile.
type step struct {
	value int // the instruction
	row   bool
	run   func(w *worker)
	text  string
}

// prepare turns the body into steps and stores.
func (e *executable) prepare() error {
	k := e.kernel
	e.numSlots = len(k.Accesses)
	e.f32 = make([]*codec[float32], len(k.Buffers))
	for i, b := range k.Buffers {
		if b.DType.Compute() == ir.F32 {
			e.f32[i] = codecOf[float32](b.DType)
		}
	}
	e.resolve()
	e.assign()
	for i := range k.Body {
		in := &k.Body[i]
		if e.value[i] != i {
			continue
		}
		f := e.instr(i, in)
		if f == nil {
			continue
		}
		s := &step{value: i, row: in.Level == codegen.Row && in.Op != codegen.OpReduce, run: f, text: e.text(i)}
		if in.Level >= codegen.Left {
			p := &e.prologues[in.Level-codegen.Left]
			*p = append(*p, s)
		} else {
			e.steps = append(e.steps, s)
		}
		e.weight += weightOf(in)
	}
	for i := range k.Stores {
		e.stores = append(e.stores, e.newStore(i))
		e.weight++
	}
	switch k.Template {
	case codegen.Rows:
		e.plan()
		e.drive = driveRows
	case codegen.Contraction:
		e.drive = e.contractionDriver()
	case codegen.Attention:
		e.drive = e.attentionDriver()
	default:
		e.drive = drivers[k.Template]
	}
	return e.checkScans()
}

// resolve finds for each instruction the one that computes its value: casts
// that change nothing are no steps.
func (e *executable) resolve() {
	k := e.kernel
	e.value = make([]int, len(k.Body))
	for i := range k.Body {
		e.value[i] = i
		in := &k.Body[i]
		if in.Op != codegen.OpCast || in.Level != k.Body[in.Args[0]].Level {
			continue
		}
		if keeps(in.From, in.To) {
			e.value[i] = e.value[in.Args[0]]
		}
	}
}

// keeps reports whether a cast leaves the register as it is: widening to F32
// the floats that live there, or to integers of which no value is cut off.
func keeps(from, to ir.DType) bool {
	switch {
	case from == to:
		return true
	case from.IsInt() && to.IsInt():
		return to.Size() == 8 || to.Size() > from.Size() && (to.IsSigned() || from.IsUnsigned())
	}
	return from.Compute() == ir.F32 && to == ir.F32
}

// assign gives every value a scratch register. A register is free again after
// the last use of its value; a result never takes the register of an operand.
// Row values keep theirs, since they outlive the tiles of a pass.
func (e *executable) assign() {
	k := e.kernel
	last := make([]int, len(k.Body))
	for i := range k.Body {
		for _, a := range k.Body[i].Args {
			last[e.value[a]] = i
		}
	}
	for i := range k.Body {
		if k.Body[i].Op == codegen.OpReduce { // folds run after all steps of their pass
			last[e.value[k.Body[i].Args[0]]] = len(k.Body)
		}
	}
	for _, s := range k.Stores {
		last[e.value[s.Value]] = len(k.Body)
		for _, x := range s.Index {
			last[e.value[x]] = len(k.Body)
		}
	}
	e.phys = make([]int, len(k.Body))
	var free []int
	for i := range k.Body {
		in := &k.Body[i]
		if e.value[i] == i {
			if n := len(free); n > 0 && in.Level != codegen.Row {
				e.phys[i] = free[n-1]
				free = free[:n-1]
			} else {
				e.phys[i] = e.numPhys
				e.numPhys++
			}
		}
		for n, a := range in.Args {
			v := e.value[a]
			if last[v] == i && k.Body[v].Level != codegen.Row && !repeated(e, in.Args[:n], v) {
				free = append(free, e.phys[v])
			}
		}
	}
}

// repeated reports whether value v is among the operands.
func repeated(e *executable, args []codegen.Value, v int) bool {
	for _, a := range args {
		if e.value[a] == v {
			return true
		}
	}
	return false
}

// instr returns the function of an instruction, or nil if it needs no step.
func (e *executable) instr(i int, in *codegen.Instr) func(*worker) {
	args := make([]int, len(in.Args))
	for n, a := range in.Args {
		args[n] = e.value[a]
	}
	switch in.Op {
	case codegen.OpLoad:
		return e.load(i, in, args)
	case codegen.OpCoord:
		return coordStep(i, e.coord(in.Index))
	case codegen.OpArange:
		return arangeStep(i, e.coord(in.Index), in)
	case codegen.OpApply:
		return applyStep(i, in, args, e.typeOf(in, len(args)-1))
	case codegen.OpCast:
		return castStep(i, in, args[0])
	case codegen.OpBitcast:
		return bitcastStep(i, in, args[0])
	case codegen.OpReduce:
		return reduceStep(e.addFold(i, in, args[0]))
	case codegen.OpScan:
		return e.scanStep(i, args[0], in)
	case codegen.OpSort:
		return e.sortStep(i, args[0], in)
	case codegen.OpPhilox:
		return philoxStep(i, e.position(), in)
	case codegen.OpNormal:
		if in.Type == ir.F64 {
			return normalStep[float64](i, e.position(), in)
		}
		return normalStep[float32](i, e.position(), in)
	}
	return nil // constants and params are preset, the template sets the rest
}

// typeOf returns the type of operand n. The instruction that computes the
// operand may have another, see keeps.
func (e *executable) typeOf(in *codegen.Instr, n int) ir.DType {
	return e.kernel.Body[in.Args[n]].Type
}

// coord returns the slot that holds the coordinate along an axis.
func (e *executable) coord(axis int) int {
	if e.coordSlot[axis] == 0 {
		e.coordSlot[axis] = e.numSlots
		e.numSlots++
	}
	return e.coordSlot[axis]
}

// position returns the slot that holds the row-major position.
func (e *executable) position() int {
	if e.posSlot == 0 {
		e.posSlot = e.numSlots
		e.numSlots++
	}
	return e.posSlot
}

// weightOf estimates the cost of an instruction at one point in units of a
// simple operation.
func weightOf(in *codegen.Instr) int {
	switch in.Op {
	case codegen.OpApply:
		switch in.Fn {
		case ir.SExp, ir.SSigmoid, ir.SSilu, ir.STanh, ir.SGeluTanh:
			return 6
		case ir.SExpm1, ir.SExp2, ir.SLog, ir.SLog1p, ir.SSin, ir.SCos, ir.STan, ir.SAsin, ir.SAcos, ir.SAtan, ir.SSinh, ir.SCosh,
			ir.SAsinh, ir.SAcosh, ir.SAtanh, ir.SErf, ir.SErfc, ir.SErfinv, ir.SGelu, ir.SSoftplus, ir.SAtan2, ir.SFmod, ir.SRemainder:
			return 16
		case ir.SLog2, ir.SLog10, ir.SPow, ir.SLgamma, ir.SDigamma:
			return 64
		}
	case codegen.OpPhilox, codegen.OpSort:
		return 8
	case codegen.OpNormal:
		return 32
	}
	return 1
}

// text prints an instruction for the listing.
func (e *executable) text(i int) string {
	in := &e.kernel.Body[i]
	var b strings.Builder
	fmt.Fprintf(&b, "%%%d r%d %v = ", i, e.phys[i], in.Type)
	switch in.Op {
	case codegen.OpApply:
		b.WriteString(in.Fn.String())
	case codegen.OpCast:
		fmt.Fprintf(&b, "cast %v→%v", in.From, in.To)
	case codegen.OpLoad:
		fmt.Fprintf(&b, "load access %d", in.Access)
	case codegen.OpReduce:
		fmt.Fprintf(&b, "reduce %v", in.Reduce)
	default:
		b.WriteString(in.Op.String())
	}
	for _, a := range in.Args {
		fmt.Fprintf(&b, " %%%d", e.value[a])
	}
	return b.String()
}
