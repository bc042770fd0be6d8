package kerneltest

import "github.com/sinter-ml/sinter/codegen"

// Join returns one kernel of parts that does what the maps given do, each with
// its own memory.
func Join(parts ...Case) Case {
	k := &codegen.Kernel{Name: "joined", Template: codegen.Parts}
	c := Case{Kernel: k, Launch: &codegen.Launch{}}
	for _, p := range parts {
		part := codegen.Part{Kernel: p.Kernel}
		for b := range p.Kernel.Buffers {
			part.Buffers = append(part.Buffers, len(k.Buffers))
			k.Buffers = append(k.Buffers, p.Kernel.Buffers[b])
			c.Mem = append(c.Mem, p.Mem[b])
		}
		k.Parts = append(k.Parts, part)
		c.Launch.Parts = append(c.Launch.Parts, *p.Launch)
	}
	return c
}
