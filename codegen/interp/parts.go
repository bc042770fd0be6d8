package interp

import (
	"fmt"
	"strings"
	"sync"

	"github.com/sinter-ml/sinter/codegen"
)

// parts is a compiled kernel of parts: each a kernel of its own. They run one
// after another, each over all workers; parts too small to share run on the
// caller. All launches are checked before the first part runs.
type parts struct {
	kernel  *codegen.Kernel
	checker *codegen.Checker
	each    []*executable
	pool    sync.Pool // of *partsRun
}

// partsRun is the scratch of a launch: the sizes of all memory, and the memory
// of a part.
type partsRun struct {
	sizes []int
	mem   [][]byte
}

var _ codegen.HostExecutable = (*parts)(nil)

func (e engine) compileParts(k *codegen.Kernel) (codegen.Executable, error) {
	p := &parts{kernel: k, checker: codegen.NewChecker(k)}
	for i := range k.Parts {
		x, err := e.Compile(k.Parts[i].Kernel)
		if err != nil {
			return nil, err
		}
		p.each = append(p.each, x.(*executable))
	}
	return p, nil
}

func (p *parts) Kernel() *codegen.Kernel { return p.kernel }

// Listing prints the listing of each part.
func (p *parts) Listing() string {
	var b strings.Builder
	for i, e := range p.each {
		fmt.Fprintf(&b, "part %d\n%s", i, e.Listing())
	}
	return b.String()
}

// Run runs each part's launch; see codegen.HostExecutable.
func (p *parts) Run(l *codegen.Launch, mem [][]byte, par codegen.Parallel) error {
	r, _ := p.pool.Get().(*partsRun)
	if r == nil {
		r = new(partsRun)
	}
	defer func() {
		clear(r.mem)
		p.pool.Put(r)
	}()
	r.sizes = r.sizes[:0]
	for _, m := range mem {
		r.sizes = append(r.sizes, len(m))
	}
	if err := p.checker.Check(l, r.sizes); err != nil {
		return err
	}
	for i, e := range p.each {
		r.mem = p.kernel.Parts[i].Bytes(r.mem, mem)
		if err := e.Run(&l.Parts[i], r.mem, par); err != nil {
			return err
		}
	}
	return nil
}
