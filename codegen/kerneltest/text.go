package kerneltest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Text returns the case in a form that Parse reads back, made to be kept beside a
// test:
//
//	kernel map outer=1 inner=0 "neg"
//	  b0: in f32
//	  …
//	launch dims=3
//	  a0: offset=0 strides=1
//	  a1: offset=0 strides=1 index=5:12 window=0:-1:2
//	  p0: 0x3f800000
//	memory
//	  b0: 3f800000 00000000*2
//	  b1: 00000000*3
//
// The kernel is as Kernel.String prints it; a launch of parts has a line
// "launch part=N dims=…" for each. An indexed axis is written extent:stride, a
// window axis:lo:hi. Memory is the bits of each element, some repeated.
func (c Case) Text() string {
	var b strings.Builder
	b.WriteString(c.Kernel.String())
	if c.Kernel.Template == codegen.Parts {
		for i := range c.Launch.Parts {
			fmt.Fprintf(&b, "launch part=%d ", i)
			launchText(&b, &c.Launch.Parts[i])
		}
	} else {
		b.WriteString("launch ")
		launchText(&b, c.Launch)
	}
	b.WriteString("memory\n")
	for i, m := range c.Mem {
		memoryText(&b, i, c.Kernel.Buffers[i].DType, m)
	}
	return b.String()
}

func launchText(b *strings.Builder, l *codegen.Launch) {
	fmt.Fprintf(b, "dims=%s\n", list(l.Dims))
	for i := range l.Access {
		a := &l.Access[i]
		fmt.Fprintf(b, "  a%d: offset=%d strides=%s", i, a.Offset, list(a.Strides))
		for _, x := range a.Index {
			fmt.Fprintf(b, " index=%d:%d", x.Extent, x.Stride)
		}
		for _, w := range a.Window {
			fmt.Fprintf(b, " window=%d:%d:%d", w.Axis, w.Lo, w.Hi)
		}
		b.WriteByte('\n')
	}
	for i, p := range l.Params {
		fmt.Fprintf(b, "  p%d: %#x\n", i, p)
	}
}

// list prints numbers with commas.
func list(numbers []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(numbers), "[]")), ",")
}

// memoryText prints eight elements or runs of equal ones a line.
func memoryText(b *strings.Builder, buffer int, dt ir.DType, mem []byte) {
	size := dt.Size()
	fmt.Fprintf(b, "  b%d:", buffer)
	n := len(mem) / size
	for i, written := 0, 0; i < n; written++ {
		e := mem[i*size : (i+1)*size]
		run := 1
		for i+run < n && bytes.Equal(e, mem[(i+run)*size:(i+run+1)*size]) {
			run++
		}
		if written > 0 && written%8 == 0 {
			b.WriteString("\n   ")
		}
		fmt.Fprintf(b, " %0*x", 2*size, rawBits(mem, size, i))
		if run > 1 {
			fmt.Fprintf(b, "*%d", run)
		}
		i += run
	}
	b.WriteByte('\n')
}
