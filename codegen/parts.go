package codegen

import (
	"fmt"
	"slices"
	"strings"
)

// Part is one of the independent kernels of a Parts kernel, which has a space of
// its own. Its buffer i is buffer Buffers[i] of the whole.
//
// Parts run in any order, also at once: what one writes no other touches. A
// launch gives each part its lengths, accesses and parameters (Launch.Parts).
type Part struct {
	Kernel  *Kernel
	Buffers []int
}

// Bytes returns the memory of a part among that of the whole, in place of what
// into holds.
func (p *Part) Bytes(into, whole [][]byte) [][]byte {
	into = into[:0]
	for _, b := range p.Buffers {
		into = append(into, whole[b])
	}
	return into
}

// parts checks a Parts kernel, which has nothing but buffers and parts.
func (v *verifier) parts() {
	k := v.k
	v.where = "kernel"
	if k.Template != Parts {
		v.check(len(k.Parts) == 0, "parts of a %v kernel", k.Template)
		return
	}
	v.check(k.Outer == 0 && k.Inner == 0, "a kernel of parts has no space of its own")
	v.check(len(k.Accesses)+len(k.Params)+len(k.Body)+len(k.Stores) == 0, "a kernel of parts has no program of its own")
	v.check(len(k.Parts) >= 2, "%d parts", len(k.Parts))
	used, writer := make([]int, len(k.Buffers)), make([]int, len(k.Buffers))
	for i := range k.Parts {
		v.where = fmt.Sprintf("part %d", i)
		p := &k.Parts[i]
		if !v.check(p.Kernel != nil && p.Kernel.Template == Map, "it is no map") {
			return
		}
		if err := p.Kernel.Verify(); err != nil {
			v.check(false, "%v", err)
			return
		}
		if !v.check(len(p.Buffers) == len(p.Kernel.Buffers), "%d buffers, not %d", len(p.Buffers), len(p.Kernel.Buffers)) {
			return
		}
		for n, b := range p.Buffers {
			if !v.check(b >= 0 && b < len(k.Buffers), "no buffer %d", b) {
				return
			}
			v.check(p.Kernel.Buffers[n] == k.Buffers[b], "buffer %d is %v %v in the part", b, p.Kernel.Buffers[n].Mode, p.Kernel.Buffers[n].DType)
			v.check(!slices.Contains(p.Buffers[:n], b), "buffer %d is named twice", b)
			used[b]++
			if k.Buffers[b].Mode != In {
				writer[b]++
			}
		}
	}
	for b := range k.Buffers {
		v.where = fmt.Sprintf("buffer %d", b)
		v.check(used[b] > 0, "no part uses it")
		v.check(writer[b] == 0 || used[b] == 1, "a part writes what another uses")
	}
}

func (h *hasher) parts(parts []Part) {
	for i := range parts {
		h.uint64(parts[i].Kernel.Hash())
		h.int(len(parts[i].Buffers))
		for _, b := range parts[i].Buffers {
			h.int(b)
		}
	}
}

func equalPart(a, b Part) bool { return slices.Equal(a.Buffers, b.Buffers) && a.Kernel.Equal(b.Kernel) }

func cloneParts(parts []Part) []Part {
	out := slices.Clone(parts)
	for i := range out {
		out[i].Kernel, out[i].Buffers = out[i].Kernel.Clone(), slices.Clone(out[i].Buffers)
	}
	return out
}

// printParts prints each part after the buffers of the whole that are its own.
func printParts(b *strings.Builder, parts []Part) {
	for i := range parts {
		fmt.Fprintf(b, "  part %d:", i)
		for _, x := range parts[i].Buffers {
			fmt.Fprintf(b, " b%d", x)
		}
		b.WriteByte('\n')
		if parts[i].Kernel == nil {
			continue
		}
		for line := range strings.Lines(parts[i].Kernel.String()) {
			b.WriteString("    " + line)
		}
	}
}

// checkParts checks the launch of each part of a kernel.
func (c *Checker) checkParts(l *Launch, sizes []int) error {
	if len(l.Parts) != len(c.parts) {
		return c.fail("launch", "%d parts, not %d", len(l.Parts), len(c.parts))
	}
	for i, p := range c.parts {
		if err := p.Check(&l.Parts[i], sizes); err != nil {
			return err
		}
	}
	return nil
}

// Spaces calls f for each kernel that has a space and its launch: each part of a
// kernel of parts, or the kernel itself.
func (k *Kernel) Spaces(l *Launch, f func(*Kernel, *Launch)) {
	if k.Template != Parts {
		f(k, l)
		return
	}
	for i := range k.Parts {
		f(k.Parts[i].Kernel, &l.Parts[i])
	}
}
