package kerneltest

import (
	"fmt"
	"unsafe"

	"github.com/sinter-ml/sinter/codegen"
)

// Case is a kernel with a launch of it and memory: one piece for each buffer,
// with contents also where the kernel writes.
type Case struct {
	Kernel *codegen.Kernel
	Launch *codegen.Launch
	Mem    [][]byte
}

// Clone returns a copy that shares nothing with c.
func (c Case) Clone() Case {
	return Case{Kernel: c.Kernel.Clone(), Launch: c.Launch.Clone(), Mem: CloneMemory(c.Mem)}
}

// Check verifies the kernel and that the launch stays inside the memory.
func (c Case) Check() error {
	if err := c.Kernel.Verify(); err != nil {
		return err
	}
	sizes := make([]int, len(c.Mem))
	for i, m := range c.Mem {
		sizes[i] = len(m)
	}
	return codegen.CheckLaunch(c.Kernel, c.Launch, sizes)
}

// Points returns how many points the spaces of the launch have.
func (c Case) Points() int {
	n := 0
	c.Kernel.Spaces(c.Launch, func(_ *codegen.Kernel, l *codegen.Launch) {
		points := 1
		for _, d := range l.Dims {
			points *= d
		}
		n += points
	})
	return n
}

// String names the case by its kernel and lengths.
func (c Case) String() string {
	if c.Kernel.Template == codegen.Parts {
		return fmt.Sprintf("%s of %d parts", c.Kernel.Name, len(c.Kernel.Parts))
	}
	return fmt.Sprintf("%s %v", c.Kernel.Name, c.Launch.Dims)
}

// Alloc returns n zero bytes aligned to 64, as a launch wants them.
func Alloc(n int) []byte {
	const align = 64
	b := make([]byte, n+align)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (align - 1)
	return b[skip : skip+n : skip+n]
}

// CloneMemory returns a copy of the memory of a launch.
func CloneMemory(mem [][]byte) [][]byte {
	out := make([][]byte, len(mem))
	for i, m := range mem {
		out[i] = Alloc(len(m))
		copy(out[i], m)
	}
	return out
}
