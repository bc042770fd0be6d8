package kerneltest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// ParseError says which line of a case's text cannot be read.
type ParseError struct {
	Line int // from 1
	Msg  string
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Parse reads what Text prints. It reads kernels that are not well formed as
// well: see Check. It returns a *ParseError. The kinds of operation that
// instructions came from are not in the text.
func Parse(text string) (c Case, err error) {
	p := &parser{lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	defer func() {
		if e, ok := recover().(*ParseError); ok {
			c, err = Case{}, e
		} else if e != nil {
			panic(e)
		}
	}()
	c.Kernel = p.kernel("")
	c.Launch = &codegen.Launch{}
	if c.Kernel.Template == codegen.Parts {
		for i := range c.Kernel.Parts {
			c.Launch.Parts = append(c.Launch.Parts, *p.launch(fmt.Sprintf("launch part=%d dims=", i)))
		}
	} else {
		c.Launch = p.launch("launch dims=")
	}
	if p.next() != "memory" {
		p.fail("no memory")
	}
	for i, b := range c.Kernel.Buffers {
		c.Mem = append(c.Mem, p.memory(i, b.DType))
	}
	if p.at < len(p.lines) {
		p.next()
		p.fail("text after the last buffer")
	}
	return c, nil
}

// parser panics with a *ParseError, which Parse returns.
type parser struct {
	lines []string
	at    int
}

func (p *parser) fail(msg string, args ...any) {
	panic(&ParseError{Line: p.at, Msg: fmt.Sprintf(msg, args...)})
}

// next returns the next line; errors are of the line taken last.
func (p *parser) next() string {
	p.at++
	if p.at > len(p.lines) {
		p.fail("the text ends here")
	}
	return p.lines[p.at-1]
}

// item returns the next line without its prefix, if it has it; else the line stays.
func (p *parser) item(prefix string) (string, bool) {
	if p.at == len(p.lines) {
		return "", false
	}
	rest, ok := strings.CutPrefix(p.lines[p.at], prefix)
	if ok {
		p.at++
	}
	return rest, ok
}

func (p *parser) int(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		p.fail("%q is no number", s)
	}
	return n
}

// ref reads the number of a name such as "b3" or "%3".
func (p *parser) ref(kind, s string) int {
	rest, ok := strings.CutPrefix(s, kind)
	if !ok {
		p.fail("%q is no %sN", s, kind)
	}
	return p.int(rest)
}

func (p *parser) ints(s string) []int {
	if s == "" {
		return []int{}
	}
	return p.split(s, ",", -1)
}

// split reads numbers, want of them unless that is negative.
func (p *parser) split(s, sep string, want int) []int {
	var out []int
	for _, part := range strings.Split(s, sep) {
		out = append(out, p.int(part))
	}
	if want >= 0 && len(out) != want {
		p.fail("%q is not %d numbers", s, want)
	}
	return out
}

func (p *parser) dtype(s string) ir.DType {
	dt, ok := ir.ParseDType(s)
	if !ok {
		p.fail("%q is no dtype", s)
	}
	return dt
}

// named returns which of the values from first to last has the name.
func named[T interface {
	~uint8
	fmt.Stringer
}](p *parser, s string, first, last T) T {
	for v := first; v <= last; v++ {
		if v.String() == s {
			return v
		}
	}
	p.fail("%q is no %T", s, first)
	return first
}

func (p *parser) launch(head string) *codegen.Launch {
	dims, ok := p.item(head)
	if !ok {
		p.next()
		p.fail("no %q", head)
	}
	l := &codegen.Launch{Dims: p.ints(dims)}
	for {
		rest, ok := p.item(fmt.Sprintf("  a%d: ", len(l.Access)))
		if !ok {
			break
		}
		l.Access = append(l.Access, p.accessArgs(rest))
	}
	for {
		rest, ok := p.item(fmt.Sprintf("  p%d: 0x", len(l.Params)))
		if !ok {
			return l
		}
		l.Params = append(l.Params, p.bits(rest))
	}
}

func (p *parser) accessArgs(s string) codegen.AccessArgs {
	var a codegen.AccessArgs
	for _, field := range strings.Fields(s) {
		key, val, _ := strings.Cut(field, "=")
		switch key {
		case "offset":
			a.Offset = p.int(val)
		case "strides":
			a.Strides = p.ints(val)
		case "index":
			n := p.split(val, ":", 2)
			a.Index = append(a.Index, codegen.IndexArg{Extent: n[0], Stride: n[1]})
		case "window":
			n := p.split(val, ":", 3)
			a.Window = append(a.Window, codegen.WindowArg{Axis: n[0], Lo: n[1], Hi: n[2]})
		default:
			p.fail("unknown %q", field)
		}
	}
	return a
}

// bits reads a hexadecimal number.
func (p *parser) bits(s string) uint64 {
	b, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		p.fail("%q are no bits", s)
	}
	return b
}

// maxElems bounds what one buffer of a text may hold.
const maxElems = 1 << 24

func (p *parser) memory(buffer int, dt ir.DType) []byte {
	rest, ok := p.item(fmt.Sprintf("  b%d:", buffer))
	if !ok {
		p.next()
		p.fail("no memory of buffer %d", buffer)
	}
	var bits []uint64
	var runs []int
	total := 0
	for ok {
		for _, field := range strings.Fields(rest) {
			e, times, repeated := strings.Cut(field, "*")
			run := 1
			if repeated {
				run = p.int(times)
			}
			if total += run; run < 1 || total > maxElems {
				p.fail("%d elements", run)
			}
			bits, runs = append(bits, p.bits(e)), append(runs, run)
		}
		rest, ok = p.item("    ")
	}
	mem := Alloc(total * dt.Size())
	i := 0
	for n, b := range bits {
		for range runs[n] {
			setRawBits(mem, dt.Size(), i, b)
			i++
		}
	}
	return mem
}
