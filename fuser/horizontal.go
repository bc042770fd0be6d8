package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// HorizontalName and HorizontalDoc describe the fusion of independent blocks.
// It is no Factory: it is offered finished blocks, not operations.
const (
	HorizontalName = "horizontal"
	HorizontalDoc  = `horizontal puts finished blocks of any shapes that do not depend on one another into one launch: the updates of an
optimiser's parameters, copies, what several branches do at once. Each block keeps its loop and its space; what is saved
is the launches, no bytes.
It refuses what is no loop over independent elements (not-a-map), what could fail on account of its data (may-fail) or
draws random numbers (draws), and more buffers than one launch can have (max-arguments).`
)

// Joinable says whether a block can be one of several in a launch.
func Joinable(o *Optimization) Verdict {
	if len(o.Calls) != 1 || len(o.Calls[0].Parts) > 0 {
		return refuse(RuleNotAMap, "%d launches", len(o.Calls))
	}
	c := &o.Calls[0]
	switch {
	case c.Kernel.Template != codegen.Map || len(c.Kernel.Stores) == 0:
		return refuse(RuleNotAMap, "%v", c.Kernel.Template)
	case slices.ContainsFunc(c.Kernel.Accesses, func(a codegen.Access) bool { return a.Indices > 0 }):
		return refuse(RuleMayFail, "%s reads at indices", c.Kernel.Name)
	case slices.ContainsFunc(c.Kernel.Body, func(in codegen.Instr) bool { return in.Op == codegen.OpPhilox || in.Op == codegen.OpNormal }):
		return refuse(RuleDraws, "%s", c.Kernel.Name)
	}
	for i, t := range c.Tensors {
		if slices.Contains(c.Tensors[:i], t) {
			return refuse(RuleNotAMap, "tensor %d twice", t)
		}
	}
	return accepted
}

// Arguments returns how many buffers a launch of joinable blocks has.
func Arguments(blocks []*Optimization) int {
	var all []ir.TensorID
	for _, o := range blocks {
		all = append(all, o.Calls[0].Tensors...)
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

// Horizontal joins joinable blocks, of which none depends on another, in one
// launch on a device.
func Horizontal(blocks []*Optimization, p *Profile) *Optimization {
	first := blocks[0].Calls[0].Kernel.Name
	call := Call{Kernel: &codegen.Kernel{Name: fmt.Sprintf("%d parts: %s", len(blocks), first), Template: codegen.Parts}}
	out := &Optimization{Fuser: HorizontalName}
	number := map[ir.TensorID]int{}
	readers := map[ir.TensorID]int{}
	for _, o := range blocks {
		c := &o.Calls[0]
		part := codegen.Part{Kernel: c.Kernel}
		for n, t := range c.Tensors {
			b, ok := number[t]
			if !ok {
				b = len(call.Tensors)
				number[t] = b
				call.Tensors = append(call.Tensors, t)
				call.Kernel.Buffers = append(call.Kernel.Buffers, c.Kernel.Buffers[n])
			}
			part.Buffers = append(part.Buffers, b)
			readers[t]++
		}
		call.Kernel.Parts = append(call.Kernel.Parts, part)
		call.Parts = append(call.Parts, *c)

		out.Ops = append(out.Ops, o.Ops...)
		out.Aliases = append(out.Aliases, o.Aliases...)
		out.Stored = append(out.Stored, o.Stored...)
		out.InPlace = append(out.InPlace, o.InPlace...)
		out.Aside = append(out.Aside, o.Aside...)
		out.Score += o.Score
		out.Saving.Bytes += o.Saving.Bytes
		out.Saving.Launches += o.Saving.Launches
		out.Saving.Recompute += o.Saving.Recompute
		out.Read += o.Read
		out.Written += o.Written
		out.MaxDim = max(out.MaxDim, o.MaxDim)
	}
	saved := float64(len(blocks) - 1)
	out.Saving.Launches += saved
	out.Score += saved * p.LaunchCost
	out.Calls = []Call{call}
	slices.Sort(out.Ops)
	out.Ops = slices.Compact(out.Ops) // what several took along
	slices.Sort(out.Aside)
	out.Aside = slices.Compact(out.Aside)
	// Parts run in any order: what two of them read is taken by neither.
	out.InPlace = slices.DeleteFunc(out.InPlace, func(x InPlace) bool { return readers[x.In] > 1 })
	return out
}
