// Command irdump shows what the library makes of a program: its operations,
// the blocks they are fused into and why, and the kernels of the blocks. It
// reads a program, as text or JSON, and plans it for a device with a fixed
// profile, or a trace written by SINTER_TRACE, and shows what was planned then.
//
// It knows programs, traces and plans as data. It must not run anything but single
// kernels, in an interpreter, to count what they do.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// The exit codes.
const (
	exitOK    = 0
	exitInput = 1 // the input is not a program or trace, or does not hold what was asked for
	exitUsage = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// usageError is a command line that makes no sense.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

// streams is what a command reads and writes.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// run is main without the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	helped := false
	parser, err := kong.New(&cli{},
		kong.Name("irdump"),
		kong.Description(description()),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		fmt.Fprintln(stderr, "irdump:", err)
		return exitUsage
	}
	ctx, err := parser.Parse(goStyle(args))
	if helped {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "irdump: %v\nTry irdump -help.\n", err)
		return exitUsage
	}
	err = ctx.Run(&streams{stdin, stdout, stderr})
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		command, _, _ := strings.Cut(ctx.Command(), " ")
		fmt.Fprintf(stderr, "irdump: %v\nTry irdump %s -help.\n", err, command)
		return exitUsage
	}
	fmt.Fprintln(stderr, "irdump:", err)
	return exitInput
}

// goStyle lets flags be written as Go programs write them, with one dash, and
// makes one flag of -why and the two words behind it.
func goStyle(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		if len(a) > 2 && a[0] == '-' && a[1] != '-' {
			a = "-" + a
		}
		if a == "--why" {
			n := min(2, len(args)-i-1)
			for _, word := range args[i+1 : i+1+n] {
				out = append(out, "--why="+word)
			}
			i += n
			if n > 0 {
				continue
			}
		}
		out = append(out, a)
	}
	return out
}

// indent puts n spaces before each line that is not empty.
func indent(n int, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(strings.Repeat(" ", n))
		}
		b.WriteString(line)
	}
	return b.String()
}
