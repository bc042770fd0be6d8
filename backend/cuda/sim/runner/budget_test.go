package runner_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/codegen/cudac"
)

var update = flag.Bool("update", false, "write testdata/budgets.txt and docs/CUDA.md")

const (
	budgetsFile = "testdata/budgets.txt"
	// budgetsMajor and budgetsMinor are the version of NVRTC whose code the budgets
	// are of.
	budgetsMajor, budgetsMinor = 12, 9
)

const budgetsTitle = `# What the benchmark kernels take and do, by call of an entry; see docs/CUDA.md.
# Written by go test ./backend/cuda/sim/runner -run TestBudgets -update, with NVRTC %d.%d.
`

// What the benchmark kernels take of a multiprocessor and do in a launch is as it
// was: whatever changes it shows here. In short tests for one architecture.
func TestBudgets(t *testing.T) {
	if major, minor := nvrtctest.Require(t).Version(); major != budgetsMajor || minor != budgetsMinor {
		t.Skipf("the budgets are those of NVRTC %d.%d, not of %d.%d", budgetsMajor, budgetsMinor, major, minor)
	}
	var takes, does strings.Builder
	table(&takes, func(w io.Writer) { takesTable(t, w) })
	table(&does, func(w io.Writer) { doesTable(t, w) })
	if *update {
		title := fmt.Sprintf(budgetsTitle, budgetsMajor, budgetsMinor)
		require.NoError(t, os.MkdirAll(filepath.Dir(budgetsFile), 0o755))
		require.NoError(t, os.WriteFile(budgetsFile, []byte(title+"\n"+takes.String()+"\n"+does.String()), 0o644))
	}
	want, err := os.ReadFile(budgetsFile)
	require.NoError(t, err)
	kept, now := budgetsOf(string(want)), budgetsOf(takes.String()+does.String())
	require.NotEmpty(t, now)
	in := func(list []string) func(string) bool {
		return func(row string) bool { return slices.Contains(list, row) }
	}
	assert.True(t, slices.Equal(kept, now), "-update writes %s\nkept:\n%s\nnow:\n%s", budgetsFile,
		strings.Join(slices.DeleteFunc(slices.Clone(kept), in(now)), ""), strings.Join(slices.DeleteFunc(slices.Clone(now), in(kept)), ""))
}

// budgetsOf returns the rows of tables that are of the targets at hand, their words
// one blank apart.
func budgetsOf(text string) (out []string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for _, t := range figureTargets() {
			if len(words) > 1 && words[1] == t.Arch() {
				out = append(out, strings.Join(words, " ")+"\n")
			}
		}
	}
	return out
}

func table(out io.Writer, write func(w io.Writer)) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	write(w)
	_ = w.Flush() // to memory
}

// takesTable writes what each call takes: threads and blocks, registers of a
// thread, and bytes of the stack and of shared memory, static and dynamic.
func takesTable(t *testing.T, w io.Writer) {
	fmt.Fprintln(w, "kernel\tarch\tentry\tblocks\tthreads\tregisters\tspilled\tstack\tshared\tdynamic\tvariant")
	for i := range figures {
		for _, target := range figureTargets() {
			c := figures[i].compile(t, target)
			for _, call := range c.calls.List {
				e, ok := c.resources.Entry(call.Entry)
				require.True(t, ok, call.Entry)
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", figures[i].name, target.Arch(), call.Entry, call.Blocks, call.Threads,
					e.Registers, e.SpillStores+e.SpillLoads, e.Stack, e.Shared, call.Shared, variantOf(c.source.Variant))
			}
		}
	}
}

// variantOf names a variant without the forms of its loops.
func variantOf(v *cudac.Variant) string {
	s := v.Kind
	if v.Vector > 1 {
		s += fmt.Sprintf(" vector=%d", v.Vector)
	}
	if len(v.Tile) > 0 {
		s += fmt.Sprintf(" tile=%v", v.Tile)
	}
	return s
}

// doesTable writes what each call does: instructions; requests, sectors and bytes of
// loads and stores in global memory; bytes of DRAM; wavefronts of shared memory and
// how many of them bank conflicts cost; arrivals of warps at barriers. An
// architecture with the code and grid of the first has no rows.
func doesTable(t *testing.T, w io.Writer) {
	fmt.Fprintln(w, "kernel\tarch\tentry\twarps\tlanes\tload-requests\tsectors\tbytes\tstore-requests\tsectors\tbytes\tDRAM-read\twritten\twavefronts\textra\tbarriers\tatomics")
	for i := range figures {
		for _, c := range figures[i].executed(t) {
			for _, call := range c.run(t).Calls {
				n := call.Counts
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", figures[i].name, c.arch(), call.Call.Entry,
					n.WarpInstructions, n.LaneInstructions, traffic(n.GlobalLoads), traffic(n.GlobalStores), n.DRAMRead, n.DRAMWritten,
					n.SharedLoads.Wavefronts+n.SharedStores.Wavefronts, extraOf(n), n.Barriers, n.Atomics)
			}
		}
	}
}

func traffic(x exec.Traffic) string { return fmt.Sprintf("%d\t%d\t%d", x.Requests, x.Sectors, x.Bytes) }

// extraOf returns how many wavefronts bank conflicts cost.
func extraOf(n *exec.Counts) uint64 { return n.SharedLoads.Extra + n.SharedStores.Extra }

// Registers suffice: nothing spills, and no array lies in local memory.
func TestNoSpills(t *testing.T) {
	for i := range figures {
		for _, target := range figureTargets() {
			c := figures[i].compile(t, target)
			for _, e := range c.resources.Entries {
				assert.Zero(t, e.SpillStores+e.SpillLoads+e.Stack, "%s for %s: %+v", figures[i].name, target.Arch(), e)
			}
		}
	}
}
