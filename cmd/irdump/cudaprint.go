package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// print prints a launch in CUDA below its kernel.
func (v *cudaView) print(out io.Writer) error {
	if v.Variant != "" {
		fmt.Fprintf(out, "    CUDA for %s, variant %s\n", v.Arch, v.Variant)
	}
	fmt.Fprint(out, indent(6, v.Source))
	if v.PTX != "" {
		fmt.Fprintln(out, "    PTX")
		fmt.Fprint(out, indent(6, strings.Trim(v.PTX, "\n")+"\n"))
	}
	for i := range v.Calls {
		if err := v.Calls[i].print(out); err != nil {
			return err
		}
	}
	if v.Note != "" {
		fmt.Fprint(out, indent(4, v.Note+"\n"))
	}
	return nil
}

func (c *cudaCall) print(out io.Writer) error {
	fmt.Fprintf(out, "    call %s: blocks %d, threads %d, bytes of dynamic shared memory %d\n", c.Entry, c.Blocks, c.Threads, c.Shared)
	return table(out, func(w io.Writer) {
		if t := c.Takes; t != nil {
			fmt.Fprintf(w, "      takes\tregisters %d, shared %d, stack %d, spills %d and %d, barriers %d\n",
				t.Registers, t.Shared, t.Stack, t.SpillStores, t.SpillLoads, t.Barriers)
		}
		d := c.Does
		if d == nil {
			return
		}
		fmt.Fprintf(w, "      instructions\t%d of warps, %d of lanes: %s\n", d.Warps, d.Lanes, classes(d.Classes))
		fmt.Fprintf(w, "      DRAM\tread %d, written %d\n", d.DRAMRead, d.DRAMWritten)
		for _, g := range []struct {
			name string
			global
		}{{"loads", d.GlobalLoads}, {"stores", d.GlobalStores}} {
			if g.Requests > 0 {
				fmt.Fprintf(w, "      %s\t%d requests, %d sectors, %d bytes\n", g.name, g.Requests, g.Sectors, g.Bytes)
			}
		}
		for _, s := range []struct {
			name string
			shared
		}{{"shared loads", d.SharedLoads}, {"shared stores", d.SharedStores}} {
			if s.Requests > 0 {
				fmt.Fprintf(w, "      %s\t%d requests, %d wavefronts, %d of them for bank conflicts\n", s.name, s.Requests, s.Wavefronts, s.Extra)
			}
		}
		for _, n := range []struct {
			name string
			n    uint64
		}{{"local accesses", d.Local}, {"barriers", d.Barriers}, {"atomics", d.Atomics}} {
			if n.n > 0 {
				fmt.Fprintf(w, "      %s\t%d\n", n.name, n.n)
			}
		}
	})
}

// classes prints the instructions of each class, most first.
func classes(of map[string]uint64) string {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		switch {
		case of[a] != of[b] && of[a] > of[b]:
			return -1
		case of[a] != of[b]:
			return 1
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, of[name])
	}
	return strings.Join(names, ", ")
}
