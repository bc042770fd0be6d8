package kerneltest

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// reduce follows the documented order: lanes, their tree, block pairs.
func reduce(op codegen.ReduceOp, t ir.DType, v []Value) Value {
	r := reduceInOrder(op, t, v)
	r.Err = reduceError(op, t, v, r)
	return r
}

func reduceInOrder(op codegen.ReduceOp, t ir.DType, v []Value) Value {
	switch op {
	case codegen.RAny, codegen.RAll:
		r := op == codegen.RAll
		for _, x := range v {
			if op == codegen.RAll {
				r = r && x.B
			} else {
				r = r || x.B
			}
		}
		return Value{B: r}
	case codegen.RArgMax, codegen.RArgMin:
		best := 0
		for i, x := range v {
			if b := v[best]; b.F == b.F && (x.F != x.F || less(t, b, x) && op == codegen.RArgMax || less(t, x, b) && op == codegen.RArgMin) {
				best = i
			}
		}
		return Value{I: int64(best)}
	}
	id := identity(op, t)
	join := func(a, b Value) Value { return Apply(reduceFns[op], t, []Value{a, b}) }
	var blocks []Value
	for at := 0; at < len(v); at += codegen.BlockElems {
		lanes := make([]Value, codegen.Lanes)
		for j := range lanes {
			lanes[j] = id
		}
		for i := at; i < min(at+codegen.BlockElems, len(v)); i++ {
			lanes[i%codegen.Lanes] = join(lanes[i%codegen.Lanes], v[i])
		}
		for len(lanes) > 1 {
			half := len(lanes) / 2
			for j := range half {
				lanes[j] = join(lanes[j], lanes[j+half])
			}
			lanes = lanes[:half]
		}
		blocks = append(blocks, lanes[0])
	}
	if len(blocks) == 0 {
		return id
	}
	for len(blocks) > 1 {
		var next []Value
		for i := 0; i+1 < len(blocks); i += 2 {
			next = append(next, join(blocks[i], blocks[i+1]))
		}
		if len(blocks)%2 == 1 {
			next = append(next, blocks[len(blocks)-1])
		}
		blocks = next
	}
	return blocks[0]
}

var reduceFns = [...]ir.ScalarOp{codegen.RSum: ir.SAdd, codegen.RProd: ir.SMul, codegen.RMax: ir.SMaximum, codegen.RMin: ir.SMinimum}

// identity is the value that stands for no elements.
func identity(op codegen.ReduceOp, t ir.DType) Value {
	least, greatest := t.Limits()
	switch op {
	case codegen.RProd:
		return Value{F: 1, I: 1}
	case codegen.RMax:
		return Value{F: math.Inf(-1), I: least}
	case codegen.RMin:
		return Value{F: math.Inf(1), I: int64(greatest)}
	}
	return Value{}
}

// less compares two values that are no NaN.
func less(t ir.DType, a, b Value) bool {
	switch {
	case t == ir.Bool:
		return !a.B && b.B
	case t.IsInt():
		return bigInt(t, a).Cmp(bigInt(t, b)) < 0
	}
	return a.F < b.F
}

// scan joins one value after another.
func scan(in *codegen.Instr, v []Value) []Value {
	out := make([]Value, len(v))
	run := identity(in.Reduce, in.Type)
	// The values before, in the order they were joined, for their errors.
	var before []Value
	uncertain := false
	for n := range v {
		i := n
		if in.Reverse {
			i = len(v) - 1 - n
		}
		last := run
		run = Apply(reduceFns[in.Reduce], in.Type, []Value{run, v[i]})
		if uncertain = uncertain || v[i].Err > 0; uncertain {
			run.Err = reduceError(in.Reduce, in.Type, append(before, v[i]), run)
		}
		before = append(before, v[i])
		out[i] = run
		if in.Exclusive {
			out[i] = last
		}
	}
	return out
}

// sortRow moves each value behind all that come before it.
func sortRow(in *codegen.Instr, t ir.DType, v []Value) []Value {
	precedes := func(a, b Value) bool { // a comes before b, whatever their positions
		nanA, nanB := a.F != a.F, b.F != b.F
		if nanA || nanB {
			return nanA != nanB && nanA == in.Reverse
		}
		if in.Reverse {
			a, b = b, a
		}
		return less(t, a, b)
	}
	out := make([]Value, len(v))
	uncertain := false
	for i, x := range v {
		uncertain = uncertain || x.Err > 0
		at := 0
		for j, y := range v {
			if precedes(y, x) || !precedes(x, y) && j < i {
				at++
			}
		}
		out[at] = x
		if in.Positions {
			out[at] = Value{I: int64(i)}
		}
	}
	for i := range out {
		if uncertain {
			out[i].Err = open
		}
	}
	return out
}
