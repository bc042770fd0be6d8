package livemodel

import (
	"fmt"
	"strings"
)

// Op is what a step does.
type Op uint8

// The steps. A step that makes a tensor records exactly one operation, except
// From (a leaf) and Value (a handle).
const (
	OpFrom      Op = iota // a leaf of Shape, filled from Seed
	OpAdd                 // broadcasting as NumPy, like the other binary maps
	OpSub                 //
	OpMul                 //
	OpDiv                 //
	OpMaximum             //
	OpAddScalar           // + Scalar
	OpMulScalar           // × Scalar
	OpNeg                 //
	OpAbs                 //
	OpRelu                //
	OpSquare              //
	OpSqrt                //
	OpUniform             // random in [0,1), of Shape
	OpTranspose           // the last two axes of a matrix; a view
	OpRows                // rows Start..Start+Len of a matrix; a view
	OpCat                 // along axis 0
	OpSum                 // over Axis, which keeps length 1
	OpMatMul              // [m,k]·[k,n]

	OpValue    // the present value of Var
	OpSet      // Var = In[0]
	OpSetSlice // Var[Start:] = In[0], by rows

	OpRead       // the values of In[0]
	OpFlush      //
	OpScopeBegin //
	OpKeep       // In[0] survives the innermost scope
	OpScopeEnd   //
	OpRelease    // In[0] dies
	OpDrop       // the program forgets In[0]; nothing may change
	OpMove       // Out is In[0], the same handle
	OpHold       // In[0] joins the list of held handles
	OpReadHeld   // reads every held handle, in order

	numOps
)

// Class decides which values a segment always stores and which blocks a
// planner may form.
type Class uint8

// The classes.
const (
	ClassNone Class = iota // no recorded operation
	ClassMap
	ClassRandom
	ClassView
	ClassReduce
	ClassContraction
	ClassEffect
)

var opTable = [numOps]struct {
	name  string
	arity int
	class Class
}{
	OpFrom:       {"from", 0, ClassNone},
	OpAdd:        {"add", 2, ClassMap},
	OpSub:        {"sub", 2, ClassMap},
	OpMul:        {"mul", 2, ClassMap},
	OpDiv:        {"div", 2, ClassMap},
	OpMaximum:    {"maximum", 2, ClassMap},
	OpAddScalar:  {"addscalar", 1, ClassMap},
	OpMulScalar:  {"mulscalar", 1, ClassMap},
	OpNeg:        {"neg", 1, ClassMap},
	OpAbs:        {"abs", 1, ClassMap},
	OpRelu:       {"relu", 1, ClassMap},
	OpSquare:     {"square", 1, ClassMap},
	OpSqrt:       {"sqrt", 1, ClassMap},
	OpUniform:    {"uniform", 0, ClassRandom},
	OpTranspose:  {"transpose", 1, ClassView},
	OpRows:       {"rows", 1, ClassView},
	OpCat:        {"cat", 2, ClassMap},
	OpSum:        {"sum", 1, ClassReduce},
	OpMatMul:     {"matmul", 2, ClassContraction},
	OpValue:      {"value", 0, ClassNone},
	OpSet:        {"set", 1, ClassEffect},
	OpSetSlice:   {"setslice", 1, ClassEffect},
	OpRead:       {"read", 1, ClassNone},
	OpFlush:      {"flush", 0, ClassNone},
	OpScopeBegin: {"scope", 0, ClassNone},
	OpKeep:       {"keep", 1, ClassNone},
	OpScopeEnd:   {"end", 0, ClassNone},
	OpRelease:    {"release", 1, ClassNone},
	OpDrop:       {"drop", 1, ClassNone},
	OpMove:       {"move", 1, ClassNone},
	OpHold:       {"hold", 1, ClassNone},
	OpReadHeld:   {"readheld", 0, ClassNone},
}

// String returns the name of o as printed in programs.
func (o Op) String() string { return opTable[o].name }

// Class returns the class of o.
func (o Op) Class() Class { return opTable[o].class }

// Call is one execution of a step with everything resolved: what a user would
// write at one call site.
type Call struct {
	Op         Op
	Site       int // stands for the caller's PC: equal for the same source line
	Shape      []int
	Scalar     float32 // a runtime scalar: a new value is no new plan
	Start, Len int     // Start is a runtime offset, Len an attribute
	Axis       int
	Seed       int
}

// Step is a line of a program. Registers hold handles; a register keeps its
// handle from one iteration to the next, which is how values are carried.
type Step struct {
	Call
	Out int   // register written, -1: none
	In  []int // registers read
	Var int

	Every, Phase int  // when Every > 0: only in iterations i with i mod Every = Phase
	Grow         bool // Scalar is multiplied by 1 + the iteration's number
	Mod          int  // when > 0: Start is (Start + the iteration's number) mod Mod
}

// call resolves the step for an iteration. Leaves are different each time.
func (s *Step) call(iter int) Call {
	c := s.Call
	if s.Grow {
		c.Scalar *= float32(1 + iter)
	}
	if s.Mod > 0 {
		c.Start = (c.Start + iter) % s.Mod
	}
	c.Seed += 1000 * iter
	return c
}

// Program is a straight beginning, a body run Times times, and a straight end.
// A step one of whose registers is empty does nothing, so that any subset of a
// program's steps is a program.
type Program struct {
	Seed  int64   // what it was generated from, for people
	Vars  [][]int // the shapes of the Vars; Var i is filled from seed i
	Init  []Step
	Body  []Step
	Times int
	Final []Step
}

// Steady reports whether each iteration does the same.
func (p *Program) Steady() bool {
	for i := range p.Body {
		if p.Body[i].Every > 0 {
			return false
		}
	}
	return true
}

// String prints the program, one step a line.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program %d\n", p.Seed)
	for i, s := range p.Vars {
		fmt.Fprintf(&b, "  v%d %v\n", i, s)
	}
	part := func(steps []Step) {
		for i := range steps {
			fmt.Fprintf(&b, "  %s\n", &steps[i])
		}
	}
	part(p.Init)
	fmt.Fprintf(&b, "repeat %d\n", p.Times)
	part(p.Body)
	b.WriteString("finally\n")
	part(p.Final)
	return b.String()
}

// String prints the step as in "t3 = add t1 t2 @7".
func (s *Step) String() string {
	var b strings.Builder
	if s.Out >= 0 {
		fmt.Fprintf(&b, "t%d = ", s.Out)
	}
	b.WriteString(s.Op.String())
	switch s.Op {
	case OpValue, OpSet, OpSetSlice:
		fmt.Fprintf(&b, " v%d", s.Var)
	}
	for _, r := range s.In {
		fmt.Fprintf(&b, " t%d", r)
	}
	switch s.Op {
	case OpFrom, OpUniform:
		fmt.Fprintf(&b, " %v", s.Shape)
	case OpAddScalar, OpMulScalar:
		fmt.Fprintf(&b, " %g", s.Scalar)
		if s.Grow {
			b.WriteString("·(1+i)")
		}
	case OpRows, OpSetSlice:
		fmt.Fprintf(&b, " start %d", s.Start)
		if s.Mod > 0 {
			fmt.Fprintf(&b, "+i mod %d", s.Mod)
		}
		if s.Op == OpRows {
			fmt.Fprintf(&b, " len %d", s.Len)
		}
	case OpSum:
		fmt.Fprintf(&b, " axis %d", s.Axis)
	}
	if s.Every > 0 {
		fmt.Fprintf(&b, " when i mod %d = %d", s.Every, s.Phase)
	}
	fmt.Fprintf(&b, " @%d", s.Site)
	return b.String()
}
