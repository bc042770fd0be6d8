package cudac

import "slices"

// scratchAlign is what parts of the scratch memory of a launch are aligned to.
const scratchAlign = 256

// scratchPart is a piece of a launch's scratch memory, which the entries of a
// source share.
type scratchPart struct {
	name  string
	bytes func(b *binding) int
}

// scratch asks for the pointer to a part of the launch's scratch memory, of so
// many bytes, which is the same in every entry that asks for the name.
func (g *generator) scratch(ctype, name string, bytes func(b *binding) int) string {
	n := slices.IndexFunc(g.memory, func(p scratchPart) bool { return p.name == name })
	if n < 0 {
		n = len(g.memory)
		g.memory = append(g.memory, scratchPart{name, bytes})
	}
	before := slices.Clone(g.memory[:n])
	return g.arg(ctype+"*", name, 8, func(b *binding) Arg { return Arg{Kind: ArgScratch, Index: scratchBytes(before, b)} })
}

// scratchBytes returns the size of parts that lie one after another.
func scratchBytes(parts []scratchPart, b *binding) int {
	total := 0
	for _, p := range parts {
		total += (p.bytes(b) + scratchAlign - 1) / scratchAlign * scratchAlign
	}
	return total
}
