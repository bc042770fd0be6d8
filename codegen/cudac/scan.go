package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
)

// scanTemplate joins the elements of a row one after another and gives what was
// joined up to each. Sums and products of floats are joined in just this order;
// other operations give the same in any. Its kinds:
//
//   - scan-thread: a thread walks a row; neighbouring rows lie next to each other.
//   - scan-warp: neighbouring lanes of a warp read as many elements of a row, and
//     each joins those before its own. Tile: lanes of a row.
//   - scan-block: a block of threads takes a row, where the order does not matter.
type scanTemplate struct{}

// scanThreads is how many threads a block has, scanBlock how many share a row.
const (
	scanThreads = 128
	scanBlock   = 1024
)

func (scanTemplate) loops(b *binding) { layRows(b) }

func (scanTemplate) variants(b *binding, t Target) []*Variant {
	var list []*Variant
	add := func(kind string, tile ...int) { list = append(list, &Variant{Kind: kind, Vector: 1, Tile: tile}) }
	if sideBySide(b) {
		add("scan-thread")
	}
	rows, n := b.loops[outerLoop].n, b.loops[innerLoop].n
	if rows < t.SMs && n > 2*scanBlock && anyOrder(b.k) {
		add("scan-block")
	}
	add("scan-warp", min(powerOfTwo(n), codegen.Lanes))
	return list
}

func (scanTemplate) check(*binding, *Variant) string { return "" }

// anyOrder reports whether no scan of a kernel depends on the order of joining.
func anyOrder(k *codegen.Kernel) bool {
	for i := range k.Body {
		if in := &k.Body[i]; in.Op == codegen.OpScan && !associative(in) {
			return false
		}
	}
	return true
}

// associative reports whether a scan gives the same bits however its elements are
// grouped.
func associative(in *codegen.Instr) bool {
	return in.Type.IsInt() || in.Reduce == codegen.RMax || in.Reduce == codegen.RMin
}

func (scanTemplate) write(g *generator) {
	switch g.v.Kind {
	case "scan-thread":
		g.scanThread()
	case "scan-block":
		g.scanTogether(scanBlock)
	default:
		g.scanTogether(g.v.Tile[0])
	}
}

// scanShape is the grid of blocks of threads, so many to a row.
func scanShape(b *binding, threads, lanes int) (int, int, int) {
	if b.loops[innerLoop].n == 0 {
		return 0, threads, 0
	}
	perBlock := threads / lanes
	return (b.loops[outerLoop].n + perBlock - 1) / perBlock, threads, 0
}

// scans declares what was joined so far for each scan, and calls each for it.
func (g *generator) scans(each func(in *codegen.Instr, v codegen.Value)) {
	for i := range g.k.Body {
		in := &g.k.Body[i]
		if in.Op != codegen.OpScan {
			continue
		}
		v := codegen.Value(i)
		g.line("%s %s_run = %s;", ctype(in.Type), g.name(v), literal(in.Type, identity(in.Reduce, in.Type)))
		if each != nil {
			each(in, v)
		}
	}
}

// scanBackward reports whether a row is walked from its end.
func (g *generator) scanBackward() bool {
	for i := range g.k.Body {
		if in := &g.k.Body[i]; in.Op == codegen.OpScan {
			return in.Reverse
		}
	}
	return false
}

// scanElement declares the element at a step of the walk.
func (g *generator) scanElement(step string) {
	if g.scanBackward() {
		g.line("const idx i = %s - 1 - %s;", g.length(), step)
	} else {
		g.line("const idx i = %s;", step)
	}
	g.coordinates(innerLoop, "i")
}

// scanBody writes the program of an element: scan writes the instructions that
// belong to the template.
func (g *generator) scanBody(condition string, scan func(v codegen.Value, in *codegen.Instr)) {
	at := &point{loops: []int{outerLoop, innerLoop}}
	for i := range g.k.Body {
		if in := &g.k.Body[i]; in.Op == codegen.OpScan {
			scan(codegen.Value(i), in)
		} else {
			g.instr(i, at)
		}
	}
	g.stores(g.allStores(), at, condition)
}

// scanJoin is what joins two values of a scan.
func (g *generator) scanJoin(in *codegen.Instr, a, b string) string {
	return g.using(applyExpr(joins[in.Reduce], in.Type, []string{a, b}))
}

func (g *generator) scanThread() {
	g.entry(g.title(g.v.Kind), scanThreads, func(b *binding) (int, int, int) { return scanShape(b, scanThreads, 1) }, func() {
		rows := g.count("rows", func(b *binding) int { return b.loops[outerLoop].n })
		g.line("const idx row = (idx)blockIdx.x * %d + (idx)threadIdx.x;", scanThreads)
		g.line("if (row >= %s) return;", rows)
		g.coordinates(outerLoop, "row")
		g.scans(nil)
		g.line("#pragma unroll 2")
		g.open("for (idx step = 0; step < %s; step++)", g.length())
		g.scanElement("step")
		g.scanBody("", func(v codegen.Value, in *codegen.Instr) {
			run := g.name(v) + "_run"
			g.line("const %s %s_next = %s;", ctype(in.Type), g.name(v), g.scanJoin(in, run, g.name(in.Args[0])))
			g.define(int(v), scanned(in, run, g.name(v)+"_next"))
			g.line("%s = %s_next;", run, g.name(v))
		})
		g.close("")
	})
}

// scanned chooses between what was joined before an element and with it.
func scanned(in *codegen.Instr, before, with string) string {
	if in.Exclusive {
		return before
	}
	return with
}

// scanTogether writes the kinds in which neighbouring threads walk a row, each
// taking one element at a time; more than a warp exchange through shared memory.
func (g *generator) scanTogether(lanes int) {
	threads := max(scanThreads, lanes)
	warps := lanes / codegen.Lanes // of a row
	g.entry(g.title(g.v.Kind), threads, func(b *binding) (int, int, int) { return scanShape(b, threads, lanes) }, func() {
		w := &rowsWriter{g: g}
		n := g.length()
		g.line("const int nth = (int)threadIdx.x %% %d;    // the element of each turn that is the thread's", lanes)
		if warps > 1 {
			g.line("const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;")
			g.line("const idx row = (idx)blockIdx.x;")
		} else {
			w.clamp(fmt.Sprintf("(idx)blockIdx.x * %d + (idx)threadIdx.x / %d", threads/lanes, lanes), w.rows())
		}
		g.coordinates(outerLoop, "row")
		g.scans(func(in *codegen.Instr, v codegen.Value) {
			if warps > 1 {
				g.line("__shared__ %s %s_warps[%d];", ctype(in.Type), g.name(v), warps)
			}
		})
		g.line("#pragma unroll 1")
		g.open("for (idx turn = 0; turn < %s; turn += %d)", n, lanes)
		g.line("const bool exists = turn + nth < %s;", n)
		g.line("const idx step = exists ? turn + nth : %s - 1;    // past the end: the last once more", n)
		g.scanElement("step")
		condition := "exists"
		if w.guard != "" {
			condition += " && " + w.guard
		}
		g.scanBody(condition, func(v codegen.Value, in *codegen.Instr) {
			switch {
			case !associative(in):
				g.scanInOrder(v, in, lanes)
			case warps > 1:
				g.scanWarps(v, in, warps)
			default:
				g.scanLanes(v, in, lanes)
			}
		})
		g.close("")
	})
}

// scanInOrder joins the elements of lanes one after another, each lane all of them,
// and keeps what its own element gives.
func (g *generator) scanInOrder(v codegen.Value, in *codegen.Instr, lanes int) {
	g.need("shuffle")
	name, t := g.name(v), ctype(in.Type)
	g.line("%s %s = %s;%s", t, name, literal(in.Type, identity(in.Reduce, in.Type)), g.comment(int(v)))
	g.line("#pragma unroll")
	g.open("for (int j = 0; j < %d; j++)", lanes)
	g.line("const %s other = shuffle_from(%s, j, %d);", t, g.name(in.Args[0]), lanes)
	g.line("const %s next = %s;", t, g.scanJoin(in, name+"_run", "other"))
	g.line("if (nth == j) %s = %s;", name, scanned(in, name+"_run", "next"))
	g.line("%s_run = next;", name)
	g.close("")
}

// scanPrefix declares what the lanes up to each have joined: after the step with
// distance d each lane holds 2d elements (Hillis and Steele, 1986).
func (g *generator) scanPrefix(v codegen.Value, in *codegen.Instr, lane string, lanes int) {
	g.need("shuffle")
	name := g.name(v)
	g.line("%s %s_with = %s;", ctype(in.Type), name, g.name(in.Args[0]))
	if lanes == 1 {
		return
	}
	g.line("#pragma unroll")
	g.open("for (int apart = 1; apart < %d; apart *= 2)", lanes)
	g.line("const %s before = shuffle_up(%s_with, apart, %d);", ctype(in.Type), name, lanes)
	g.line("if (%s >= apart) %s_with = %s;", lane, name, g.scanJoin(in, "before", name+"_with"))
	g.close("")
}

func (g *generator) scanLanes(v codegen.Value, in *codegen.Instr, lanes int) {
	name, t := g.name(v), ctype(in.Type)
	g.scanPrefix(v, in, "nth", lanes)
	g.line("%s_with = %s;", name, g.scanJoin(in, name+"_run", name+"_with"))
	if in.Exclusive {
		g.line("const %s %s_up = shuffle_up(%s_with, 1, %d);", t, name, name, lanes)
		g.define(int(v), fmt.Sprintf("nth == 0 ? %s_run : %s_up", name, name))
	} else {
		g.define(int(v), name+"_with")
	}
	g.line("%s_run = shuffle_from(%s_with, %d, %d);", name, name, lanes-1, lanes)
}

// scanWarps joins the warps of a block: each adds what the warps before it have.
func (g *generator) scanWarps(v codegen.Value, in *codegen.Instr, warps int) {
	name, t := g.name(v), ctype(in.Type)
	g.scanPrefix(v, in, "lane", codegen.Lanes)
	g.line("__syncthreads();    // the turn before has been read")
	g.line("if (lane == 31) %s_warps[warp] = %s_with;", name, name)
	g.line("__syncthreads();")
	g.line("%s %s_before = %s, %s_all = %s;", t, name, name+"_run", name, name+"_run")
	g.line("#pragma unroll 4")
	g.open("for (int other = 0; other < %d; other++)", warps)
	g.line("const %s joined = %s_warps[other];", t, name)
	g.line("if (other < warp) %s_before = %s;", name, g.scanJoin(in, name+"_before", "joined"))
	g.line("%s_all = %s;", name, g.scanJoin(in, name+"_all", "joined"))
	g.close("")
	g.line("%s_with = %s;", name, g.scanJoin(in, name+"_before", name+"_with"))
	if in.Exclusive {
		g.line("const %s %s_up = shuffle_up(%s_with, 1, 32);", t, name, name)
		g.define(int(v), fmt.Sprintf("lane == 0 ? %s_before : %s_up", name, name))
	} else {
		g.define(int(v), name+"_with")
	}
	g.line("%s_run = %s_all;", name, name)
}
