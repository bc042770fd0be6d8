package interp

import (
	"fmt"
	"strings"
	"sync"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Name is the engine's name.
const Name = "interp"

type engine struct{}

// New returns the portable engine.
func New() codegen.Engine { return engine{} }

func (engine) Name() string { return Name }

// Compile prepares a kernel. It returns a *codegen.VerifyError for a kernel
// that is not well formed. The kernel must not change afterwards.
func (engine) Compile(k *codegen.Kernel) (codegen.Executable, error) {
	if err := k.Verify(); err != nil {
		return nil, err
	}
	switch k.Template {
	case codegen.Parts:
		return engine{}.compileParts(k)
	case codegen.Custom:
		return nil, fmt.Errorf("kernel %q: a custom operation is run by its device, not by an engine", k.Name)
	}
	e := &executable{kernel: k, checker: codegen.NewChecker(k)}
	if err := e.prepare(); err != nil {
		return nil, err
	}
	return e, nil
}

// driver runs the loop structure of a template over a bound launch.
type driver func(r *run, par codegen.Parallel) error

// drivers are those of templates that need nothing compiled.
var drivers = [...]driver{
	codegen.Map:     driveMap,
	codegen.Scan:    driveScan,
	codegen.Scatter: driveScatter,
	codegen.Sort:    driveSort,
}

// executable is a compiled kernel.
type executable struct {
	kernel  *codegen.Kernel
	checker *codegen.Checker
	drive   driver

	steps     []*step           // in the order of the body; constants and params have none
	prologues [2][]*step        // Contraction: the steps of its left and right operand
	result    int               // Contraction, Attention: the instruction the template computes
	f32       []*codec[float32] // by buffer, nil for those of other registers
	stores    []store
	folds     []fold // Rows: one for each OpReduce
	passes    []pass // Rows
	scans     []scan // Scan: one for each OpScan
	reverse   bool   // Scan

	value   []int // the instruction that computes each instruction's value
	phys    []int // scratch register of each instruction
	numPhys int
	weight  int // cost of one point, about one simple operation each

	coordSlot [maxAxes]int // slot of each axis's coordinate, 0: none
	posSlot   int          // slot of the row-major position, 0: none
	numSlots  int

	pool sync.Pool // of *run
}

var _ codegen.HostExecutable = (*executable)(nil)

func (e *executable) Kernel() *codegen.Kernel { return e.kernel }

// Listing prints the prepared steps: the instruction each came from, its
// scratch register and, in a Rows kernel, the pass it belongs to.
func (e *executable) Listing() string {
	var b strings.Builder
	k := e.kernel
	fmt.Fprintf(&b, "interp %v, %d outer, %d inner axes, %d registers of %d elements\n", k.Template, k.Outer, k.Inner, e.numPhys, tileLen)
	for i, steps := range [...][]*step{e.prologues[0], e.prologues[1], e.steps} {
		for _, s := range steps {
			b.WriteString([...]string{"  left: ", "  right: ", "  "}[i] + s.text + "\n")
		}
	}
	for i := range e.stores {
		fmt.Fprintf(&b, "  %s\n", e.stores[i].text)
	}
	for i := range e.passes {
		p := &e.passes[i]
		fmt.Fprintf(&b, "  pass %d: rows%s, elements%s", i, names(p.rows), names(p.elements))
		for _, f := range p.folds {
			fmt.Fprintf(&b, ", fold %%%d", f.result())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func names(steps []*step) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, " %%%d", s.value)
	}
	return b.String()
}

// Run executes one launch; see codegen.HostExecutable. It returns a
// *codegen.ArgsError for a launch that does not fit the kernel or the memory,
// and an *ir.IndexError when an index value was out of range.
func (e *executable) Run(l *codegen.Launch, mem [][]byte, par codegen.Parallel) error {
	r, _ := e.pool.Get().(*run)
	if r == nil {
		r = newRun(e)
	}
	err := r.bind(l, mem, par.Workers())
	if err == nil {
		err = e.drive(r, par)
	}
	if err == nil {
		if f := r.failure.Load(); f != nil {
			err = &ir.IndexError{Msg: f.Msg}
		}
	}
	r.release()
	e.pool.Put(r)
	return err
}
