package cudac

import (
	"encoding/binary"
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
)

// Source is a variant of a kernel as CUDA C++.
type Source struct {
	Kernel  *codegen.Kernel
	Variant *Variant
	Target  Target
	Text    string
	entries []*entry
	scratch []scratchPart
}

// Entries returns the names of the __global__ functions, in the order in which
// a launch calls them.
func (s *Source) Entries() []string {
	var names []string
	for _, e := range s.entries {
		names = append(names, e.name)
	}
	return names
}

// entry is a __global__ function.
type entry struct {
	name string
	args []argument
	// shape returns how many blocks and threads run, and the bytes of dynamic
	// shared memory. No blocks: the entry is not called.
	shape func(b *binding) (blocks, threads, shared int)
}

// argument is a parameter of an entry and how a launch gives it.
type argument struct {
	ctype, name string
	size        int
	value       func(b *binding) Arg
}

// ArgKind is what an argument of a call is.
type ArgKind uint8

// The kinds of arguments.
const (
	ArgValue     ArgKind = iota // Bytes, as they lie in memory
	ArgBuffer                   // the address of buffer Index of the kernel
	ArgScratch                  // the address of byte Index of the launch's scratch memory
	ArgFault                    // the address of FaultWords words, zero before the launch
	ArgStruct                   // Fields, in Index bytes
	ArgTensorMap                // Map, in the 128 bytes the driver encodes it in
)

// Arg is one argument of a call. Addresses have 8 bytes.
type Arg struct {
	Kind   ArgKind
	Index  int
	Bytes  []byte
	Fields []Field
	Map    *TensorMap
}

// Field is a part of a struct that is an argument.
type Field struct {
	Offset int
	Arg    Arg
}

// Call is one call of an entry. Calls of a launch run one after another.
type Call struct {
	Entry           string
	Blocks, Threads int
	Shared          int // bytes of dynamic shared memory
	Args            []Arg
}

// Calls is what a launch runs.
type Calls struct {
	List []Call
	// Scratch is how many bytes of memory the calls share, aligned to 256;
	// what is in it before and after does not matter.
	Scratch int
}

// FaultWords is how many 64-bit words ArgFault points to: whether an index was
// out of range, one such index, and the length of its axis.
const FaultWords = 3

// Bind returns the calls of a launch. It returns a *VariantError for a launch
// that does not fit the source's variant.
func (s *Source) Bind(l *codegen.Launch) (*Calls, error) {
	b := bind(s.Kernel, l)
	if err := s.Variant.check(b); err != nil {
		return nil, err
	}
	calls := &Calls{Scratch: scratchBytes(s.scratch, b)}
	for _, e := range s.entries {
		blocks, threads, shared := e.shape(b)
		if blocks == 0 {
			continue
		}
		c := Call{Entry: e.name, Blocks: blocks, Threads: threads, Shared: shared}
		for _, a := range e.args {
			c.Args = append(c.Args, a.value(b))
		}
		calls.List = append(calls.List, c)
	}
	return calls, nil
}

// bytesOf returns the low n bytes of x as they lie in the memory of the target.
func bytesOf(x uint64, n int) []byte {
	return binary.LittleEndian.AppendUint64(nil, x)[:n]
}

// GenerateError says why no source could be written.
type GenerateError struct {
	Kernel string // the kernel's name
	Rule   string
}

func (e *GenerateError) Error() string { return fmt.Sprintf("CUDA source of %q: %s", e.Kernel, e.Rule) }
