package kerneltest

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
)

// tidy removes values nothing uses, and then accesses, parameters and buffers
// that nothing uses, with their arguments and memory.
func (c *Case) tidy() {
	k, l := c.Kernel, c.Launch
	if k.Template == codegen.Parts {
		used := make([]bool, len(k.Buffers))
		for _, p := range k.Parts {
			for _, b := range p.Buffers {
				used[b] = true
			}
		}
		number := c.keepBuffers(used)
		for i := range k.Parts {
			renumber(k.Parts[i].Buffers, number)
		}
		return
	}
	c.dropValues()
	if k.Template == codegen.Attention {
		return // which reads accesses and parameters by their number
	}
	access, param := make([]bool, len(k.Accesses)), make([]bool, len(k.Params))
	for i := range k.Body {
		in := &k.Body[i]
		for _, p := range paramsOf(in) {
			param[*p] = true
			if in.Op != codegen.OpParam {
				param[*p+1] = true
			}
		}
		for _, a := range accessesOf(in) {
			access[*a] = true
		}
	}
	for i := range k.Stores {
		access[k.Stores[i].Access] = true
	}
	byAccess, byParam := kept(access), kept(param)
	for i := range k.Body {
		in := &k.Body[i]
		for _, p := range paramsOf(in) {
			*p = byParam[*p]
		}
		for _, a := range accessesOf(in) {
			*a = byAccess[*a]
		}
	}
	for i := range k.Stores {
		k.Stores[i].Access = byAccess[k.Stores[i].Access]
	}
	k.Accesses, l.Access = only(k.Accesses, access), only(l.Access, access)
	k.Params, l.Params = only(k.Params, param), only(l.Params, param)

	used := make([]bool, len(k.Buffers))
	for _, a := range k.Accesses {
		used[a.Buffer] = true
	}
	number := c.keepBuffers(used)
	for i := range k.Accesses {
		k.Accesses[i].Buffer = number[k.Accesses[i].Buffer]
	}
}

// dropValues removes the instructions whose values nothing uses.
func (c *Case) dropValues() {
	k := c.Kernel
	used := make([]bool, len(k.Body))
	for _, s := range k.Stores {
		used[s.Value] = true
		for _, x := range s.Index {
			used[x] = true
		}
	}
	for v := len(k.Body) - 1; v >= 0; v-- {
		if used[v] {
			for _, a := range k.Body[v].Args {
				used[a] = true
			}
		}
	}
	number := kept(used)
	k.Body = only(k.Body, used)
	for i := range k.Body {
		renumber(k.Body[i].Args, number)
	}
	for i := range k.Stores {
		s := &k.Stores[i]
		s.Value = codegen.Value(number[s.Value])
		renumber(s.Index, number)
	}
}

// keepBuffers removes the buffers that are not used and returns the new numbers.
func (c *Case) keepBuffers(used []bool) []int {
	c.Kernel.Buffers, c.Mem = only(c.Kernel.Buffers, used), only(c.Mem, used)
	return kept(used)
}

// accessesOf returns where an instruction names accesses.
func accessesOf(in *codegen.Instr) []*int {
	switch {
	case in.Op == codegen.OpLoad:
		return []*int{&in.Access}
	case in.Op == codegen.OpContract && len(in.Args) == 0:
		return []*int{&in.Access, &in.Access2}
	}
	return nil
}

// paramsOf returns where an instruction names its first parameter: of two, but for
// OpParam.
func paramsOf(in *codegen.Instr) []*int {
	switch in.Op {
	case codegen.OpParam, codegen.OpPhilox, codegen.OpNormal:
		return []*int{&in.Index}
	case codegen.OpArange:
		return []*int{&in.Index2}
	}
	return nil
}

// kept returns the new numbers of what is used.
func kept(used []bool) []int {
	number, n := make([]int, len(used)), 0
	for i, u := range used {
		number[i] = n
		if u {
			n++
		}
	}
	return number
}

// only returns a list without what is not used.
func only[T any](list []T, used []bool) []T {
	out := slices.Clone(list[:0])
	for i, x := range list {
		if used[i] {
			out = append(out, x)
		}
	}
	return out
}

func renumber[T ~int | ~int32](list []T, number []int) {
	for i := range list {
		list[i] = T(number[list[i]])
	}
}
