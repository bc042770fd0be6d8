package backend

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// HostTensor is an operand or result of a host function: element i lies at
// Offset + Σ i[k]·Strides[k] of Data, counted in elements. Results are dense:
// their offset is 0.
type HostTensor struct {
	DType   ir.DType
	Shape   ir.Shape
	Strides []int
	Offset  int
	Data    []byte
}

// Dense reports whether the elements lie in row-major order without gaps.
func (t *HostTensor) Dense() bool {
	l := codegen.Layout{Shape: t.Shape, Strides: t.Strides, Offset: t.Offset}
	return l.IsContiguous()
}

// HostCall is what a host function is given. It and the memory it names may not
// be kept.
type HostCall struct {
	Name    string
	Ints    []int
	DType   ir.DType
	Flag    bool
	Scalars []ir.Scalar  // with their values, wherever those come from
	Inputs  []HostTensor // operands that hold no scalar; not to be written to
	Outputs []HostTensor // their content is undefined: every element is to be written
}

// HostFunc computes the results of a call. It must be a function of the call
// alone, may run on several goroutines at once, and must have finished when it
// returns. An error or panic fails the operation.
type HostFunc func(c *HostCall) error

type hostKey struct{ device, name string }

var hosts struct {
	sync.RWMutex
	funcs map[hostKey]HostFunc
}

// RegisterHost makes a function known to the devices of a backend, such as
// "cpu". A plan with a call of it compiles on them from then on. It returns an
// *ir.ArgumentError when the name is taken or something is missing.
func RegisterHost(device, name string, f HostFunc) error {
	if device == "" || name == "" || f == nil {
		return &ir.ArgumentError{Msg: "a host function needs a backend, a name and a body"}
	}
	hosts.Lock()
	defer hosts.Unlock()
	if _, taken := hosts.funcs[hostKey{device, name}]; taken {
		return &ir.ArgumentError{Msg: fmt.Sprintf("a host function %q is registered for %s already", name, device)}
	}
	if hosts.funcs == nil {
		hosts.funcs = make(map[hostKey]HostFunc)
	}
	hosts.funcs[hostKey{device, name}] = f
	return nil
}

// UnregisterHost forgets a function, and reports whether there was one. What was
// compiled keeps it.
func UnregisterHost(device, name string) bool {
	hosts.Lock()
	defer hosts.Unlock()
	_, ok := hosts.funcs[hostKey{device, name}]
	delete(hosts.funcs, hostKey{device, name})
	return ok
}

// CompileHost returns the executable of a Custom kernel for a backend on host
// memory: the registered function. The kernel must have been verified.
func CompileHost(device string, k *codegen.Kernel) (codegen.HostExecutable, error) {
	hosts.RLock()
	f, ok := hosts.funcs[hostKey{device, k.Custom.Name}]
	hosts.RUnlock()
	if !ok {
		return nil, fmt.Errorf("no host function %q is registered for %s", k.Custom.Name, device)
	}
	return &hostExecutable{kernel: k, check: codegen.NewChecker(k), f: f}, nil
}

// hostExecutable runs a registered function as a kernel.
type hostExecutable struct {
	kernel *codegen.Kernel
	check  *codegen.Checker
	f      HostFunc
	pool   sync.Pool // of *hostRun
}

type hostRun struct {
	call  HostCall
	all   []HostTensor // by access
	sizes []int
}

func (e *hostExecutable) Kernel() *codegen.Kernel { return e.kernel }

// Listing names the function.
func (e *hostExecutable) Listing() string {
	return fmt.Sprintf("host function %q\n", e.kernel.Custom.Name)
}

// Run calls the function on the calling goroutine; see codegen.HostExecutable.
func (e *hostExecutable) Run(l *codegen.Launch, mem [][]byte, _ codegen.Parallel) error {
	r, _ := e.pool.Get().(*hostRun)
	if r == nil {
		spec := &e.kernel.Custom
		r = &hostRun{call: HostCall{Name: spec.Name, Ints: slices.Clone(spec.Ints), DType: spec.DType, Flag: spec.Flag}}
	}
	r.sizes = r.sizes[:0]
	for _, m := range mem {
		r.sizes = append(r.sizes, len(m))
	}
	if err := e.check.Check(l, r.sizes); err != nil {
		return err
	}
	e.bind(r, l, mem)
	err := e.f(&r.call)
	clear(r.all)
	e.pool.Put(r) // not after a panic: the function may hold it
	return err
}

func (e *hostExecutable) bind(r *hostRun, l *codegen.Launch, mem [][]byte) {
	k := e.kernel
	r.all = r.all[:0]
	at := 0
	for i, rank := range k.Custom.Ranks {
		b := k.Accesses[i].Buffer
		r.all = append(r.all, HostTensor{DType: k.Buffers[b].DType, Shape: l.Dims[at : at+rank : at+rank],
			Strides: l.Access[i].Strides[at : at+rank : at+rank], Offset: l.Access[i].Offset, Data: mem[b]})
		at += rank
	}
	operands := k.Operands()
	own := operands
	r.call.Scalars = r.call.Scalars[:0]
	for i, p := range k.Params {
		s := ir.Scalar{DType: p, Bits: l.Params[i]}
		if from := k.Custom.Sources[i]; from != 0 {
			own = min(own, from)
			s.Bits = scalarBits(&r.all[from])
		}
		r.call.Scalars = append(r.call.Scalars, s)
	}
	r.call.Inputs, r.call.Outputs = r.all[:own:own], r.all[operands:]
}

// scalarBits returns the one element of a tensor of rank 0 in the form of
// ir.Scalar.
func scalarBits(t *HostTensor) uint64 {
	size := t.DType.Size()
	b := t.Data[t.Offset*size:]
	float := func(f float32) uint64 { return uint64(math.Float32bits(f)) }
	switch t.DType {
	case ir.F16:
		return float(ir.Float16(binary.LittleEndian.Uint16(b)).Float32())
	case ir.BF16:
		return float(ir.BFloat16(binary.LittleEndian.Uint16(b)).Float32())
	case ir.F8E4M3:
		return float(ir.Float8E4M3(b[0]).Float32())
	case ir.F8E5M2:
		return float(ir.Float8E5M2(b[0]).Float32())
	}
	var bits uint64
	switch size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(binary.LittleEndian.Uint16(b))
	case 4:
		bits = uint64(binary.LittleEndian.Uint32(b))
	default:
		bits = binary.LittleEndian.Uint64(b)
	}
	if t.DType.IsSigned() {
		shift := 64 - 8*size
		bits = uint64(int64(bits<<shift) >> shift)
	}
	return bits
}
