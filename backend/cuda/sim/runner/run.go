package runner

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/codegen/cudac"
)

// run is the memory of one launch: the host's buffers in place, scratch memory
// whose contents are not defined, and the words that report an index out of
// range.
type run struct {
	memory  *exec.Memory
	buffers []uint64 // addresses
	scratch uint64
	fault   uint64
	words   []byte
}

func newRun(mem [][]byte, scratch int) *run {
	r := &run{memory: exec.NewMemory()}
	for i, m := range mem {
		r.buffers = append(r.buffers, r.buffer(mem[:i], m))
	}
	if scratch > 0 {
		r.scratch, _ = r.memory.Alloc(scratch)
		r.memory.Poison(r.scratch)
		r.memory.Poison(r.scratch)
	}
	r.words = make([]byte, 8*cudac.FaultWords)
	r.fault = r.memory.MapBytes(r.words)
	return r
}

// buffer returns the address of a buffer; buffers that begin at one place have one
// address.
func (r *run) buffer(before [][]byte, m []byte) uint64 {
	for i, b := range before {
		if len(m) > 0 && len(b) == len(m) && &b[0] == &m[0] {
			return r.buffers[i]
		}
	}
	return r.memory.MapBytes(m)
}

// call runs one call. One with a tensor map is an *exec.UnsupportedError.
func (r *run) call(ctx context.Context, p *exec.Program, c cudac.Call, o exec.Options) (*exec.Counts, error) {
	args := make([]exec.Arg, len(c.Args))
	for i := range c.Args {
		if c.Args[i].Kind == cudac.ArgTensorMap {
			return nil, &exec.UnsupportedError{Func: c.Entry, Instr: fmt.Sprintf("argument %d", i), Reason: "a tensor map, which only a driver encodes"}
		}
		args[i] = r.bytes(&c.Args[i])
	}
	return p.Launch(ctx, c.Entry, exec.Dim{X: c.Blocks, Y: 1, Z: 1}, exec.Dim{X: c.Threads, Y: 1, Z: 1}, c.Shared, args, r.memory, o)
}

// bytes returns an argument as it lies in the memory of parameters.
func (r *run) bytes(a *cudac.Arg) []byte {
	address := func(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }
	switch a.Kind {
	case cudac.ArgBuffer:
		return address(r.buffers[a.Index])
	case cudac.ArgScratch:
		return address(r.scratch + uint64(a.Index))
	case cudac.ArgFault:
		return address(r.fault)
	case cudac.ArgStruct:
		all := make([]byte, a.Index)
		for i := range a.Fields {
			copy(all[a.Fields[i].Offset:], r.bytes(&a.Fields[i].Arg))
		}
		return all
	}
	return a.Bytes
}

// indexError returns the error of an index that was out of range, if there was
// one.
func (r *run) indexError() error {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(r.words[8*i:]) }
	if word(0) == 0 {
		return nil
	}
	return indexError(int64(word(1)), word(2))
}
