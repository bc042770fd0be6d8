package main

import "strings"

// cli is the command line.
type cli struct {
	Ops     opsCmd     `cmd:"" help:"List operations with shapes, dtypes, classes and positions."`
	Fuse    fuseCmd    `cmd:"" help:"Show the blocks in running order, what they save, and every refusal."`
	Stats   statsCmd   `cmd:"" help:"Sum up a trace: counters, sequences planned several times, the segments that cost most."`
	Kernels kernelsCmd `cmd:"" help:"Print the kernels of each block."`
	Rules   rulesCmd   `cmd:"" help:"List the rules that keep operations apart."`
	Fusers  fusersCmd  `cmd:"" help:"Say what each fuser fuses and when it refuses."`
	Passes  passesCmd  `cmd:"" help:"List the passes that rewrite a segment before it is fused."`
}

// source is what every command that reads something takes.
type source struct {
	File    string `arg:"" optional:"" default:"-" help:"A program, as text or JSON, or a trace; - is standard input."`
	Segment int    `placeholder:"N" help:"Of a trace, only segment N."`
	format
}

// planning is how a program is planned. A trace was planned already.
type planning struct {
	Keep     bool     `help:"Plan a program as if every tensor could still be asked for, not only its outputs."`
	NoFuser  []string `name:"no-fuser" placeholder:"NAME" help:"Plan a program without this fuser."`
	NoPass   []string `name:"no-pass" placeholder:"NAME" help:"Plan a program without this pass."`
	NoRule   []string `name:"no-rule" placeholder:"NAME" help:"Plan a program without this rule of cost: fuse what it alone forbids."`
	NoFusion bool     `name:"no-fusion" help:"Plan a program with each operation as a block of its own."`
	Force    bool     `help:"Plan a program so that whatever is legal is fused, whether it pays or not."`
}

// format is what every command takes.
type format struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type opsCmd struct {
	source
}

type fuseCmd struct {
	source
	planning
	Why []string `sep:"none" placeholder:"A B" help:"Say why operations A and B are, or are not, in one block. An operation is named by its result, as %3 or by the tensor's name, or by file:line."`
}

type statsCmd struct {
	source
}

type kernelsCmd struct {
	source
	planning
	Block int      `default:"-1" placeholder:"N" help:"Only block N."`
	CUDA  bool     `name:"cuda" help:"Also compile a program's kernels for CUDA and run them in an interpreter, on values made up. Needs NVRTC, and ptxas for registers and spills."`
	Arch  string   `default:"sm_80" placeholder:"sm_80" help:"With -cuda: the architecture."`
	Show  []string `default:"source,ptx,counts" enum:"source,ptx,counts" help:"With -cuda: what to show of each launch: source (CUDA C++), ptx, counts (what it takes and does)."`
}

type (
	rulesCmd  struct{ format }
	fusersCmd struct{ format }
	passesCmd struct{ format }
)

// example is a line of help that a test runs.
type example struct{ command, line, doc string }

var examples = []example{
	{"ops", "irdump ops testdata/mlp.sinter", "operations of a program"},
	{"ops", "irdump ops -json testdata/mlp.sinter", "the same as JSON"},
	{"fuse", "irdump fuse testdata/softmax.sinter", "blocks, scores and refusals"},
	{"fuse", "irdump fuse -why %3 %8 testdata/refused.sinter", "why are these two apart?"},
	{"fuse", "irdump fuse -why scores model.go:12 testdata/attention.sinter", "the same by a tensor's name and a line"},
	{"fuse", "irdump fuse -no-fuser reduce-broadcast testdata/softmax.sinter", "what would be without one fuser"},
	{"fuse", "irdump fuse -no-fusion testdata/softmax.sinter", "and without any"},
	{"fuse", "irdump fuse -force testdata/longrows.sinter", "fused whether it pays or not"},
	{"fuse", "irdump fuse -segment 1 testdata/trace.jsonl", "what a program that ran had planned"},
	{"stats", "irdump stats testdata/trace.jsonl", "what a program that ran had to do"},
	{"kernels", "irdump kernels -block 0 testdata/softmax.sinter", "the kernels of the first block"},
	{"kernels", "irdump kernels -cuda testdata/softmax.sinter", "what they are on a card of NVIDIA, without one"},
	{"kernels", "irdump kernels -cuda -show counts testdata/softmax.sinter", "only what their launches take and do"},
	{"kernels", "irdump kernels -cuda -arch sm_90a -json testdata/mlp.sinter", "the same for another architecture, as JSON"},
	{"rules", "irdump rules", ""},
	{"fusers", "irdump fusers", ""},
	{"passes", "irdump passes -json", ""},
}

func examplesOf(command string) string {
	var b strings.Builder
	b.WriteString("Examples:\n\n")
	for _, e := range examples {
		if command != "" && e.command != command {
			continue
		}
		b.WriteString("    " + e.line + "\n")
		if e.doc != "" {
			b.WriteString("        # " + e.doc + "\n")
		}
	}
	return b.String()
}

func description() string {
	return `irdump shows what the library makes of a program: its operations, the blocks they are fused into and why, and the kernels of the blocks.

A program is planned with the fixed profile of the null device. A trace, which a program writes when SINTER_TRACE names a file, is shown as it was planned then.

Exit codes: 0; 1 if the input is bad; 2 if the command line is.`
}

// Help is printed under the command's flags.
func (opsCmd) Help() string { return examplesOf("ops") }

// Help is printed under the command's flags.
func (fuseCmd) Help() string {
	return `Each block is printed with its fuser, the nanoseconds it saves, its launches and bytes against those of its operations one by one, and its operations. Below stand the fusers that could have finished it, and every refusal: an operation of the block, offered to a block before it, was refused by a fuser or by the planner for a named rule (see irdump rules).

` + examplesOf("fuse")
}

// Help is printed under the command's flags.
func (statsCmd) Help() string { return examplesOf("stats") }

// Help is printed under the command's flags.
func (kernelsCmd) Help() string { return examplesOf("kernels") }

// Help is printed under the command's flags.
func (rulesCmd) Help() string { return examplesOf("rules") }

// Help is printed under the command's flags.
func (fusersCmd) Help() string { return examplesOf("fusers") }

// Help is printed under the command's flags.
func (passesCmd) Help() string { return examplesOf("passes") }
