package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files, the documentation's output and the trace anew")

// irdump runs a command line, without the name of the program.
func irdump(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// good runs a command line that must succeed.
func good(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := irdump(t, "", args...)
	require.Equal(t, exitOK, code, "irdump %s: %s", strings.Join(args, " "), errs)
	require.Empty(t, errs)
	require.NotEmpty(t, out)
	return out
}

func TestGolden(t *testing.T) {
	const dir = "testdata/"
	cases := []struct{ name, args string }{
		{"softmax-fuse", "fuse testdata/softmax.sinter"},
		{"softmax-fuse.json", "fuse -json testdata/softmax.sinter"},
		{"softmax-kernels", "kernels testdata/softmax.sinter"},
		{"softmax-no-fuser", "fuse -no-fuser reduce-broadcast testdata/softmax.sinter"},
		{"softmax-no-fusion", "fuse -no-fusion testdata/softmax.sinter"},
		{"softmax-keep", "fuse -keep testdata/softmax.sinter"},
		{"mlp-ops", "ops testdata/mlp.sinter"},
		{"mlp-ops.json", "ops -json testdata/mlp.sinter"},
		{"mlp-fuse", "fuse testdata/mlp.sinter"},
		{"mlp-kernels", "kernels testdata/mlp.sinter"},
		{"attention-ops", "ops testdata/attention.sinter"},
		{"attention-fuse", "fuse testdata/attention.sinter"},
		{"attention-kernels", "kernels -block 0 testdata/attention.sinter"},
		{"attention-why", "fuse -why scores model.go:12 testdata/attention.sinter"},
		{"attention-why-fused", "fuse -why scores %12 testdata/attention.sinter"},
		{"refused-why", "fuse -why %3 %8 testdata/refused.sinter"},
		{"refused-why.json", "fuse -json -why hidden y testdata/refused.sinter"},
		{"rewritten-fuse", "fuse testdata/rewritten.sinter"},
		{"rewritten-no-pass", "fuse -no-pass cse testdata/rewritten.sinter"},
		{"step-fuse", "fuse testdata/step.sinter"},
		{"step-kernels", "kernels testdata/step.sinter"},
		{"step-why", "fuse -why v1 %22 testdata/step.sinter"},
		{"step-no-fuser", "fuse -no-fuser horizontal testdata/step.sinter"},
		{"trace-ops", "ops testdata/trace.jsonl"},
		{"trace-fuse", "fuse testdata/trace.jsonl"},
		{"trace-why.json", "fuse -json -why %1 total testdata/trace.jsonl"},
		{"trace-stats", "stats testdata/trace.jsonl"},
		{"trace-stats.json", "stats -json testdata/trace.jsonl"},
		{"trace-kernels", "kernels -segment 1 testdata/trace.jsonl"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := good(t, strings.Fields(c.args)...)
			file := filepath.Join(dir, "golden", c.name)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), got, "irdump %s; -update if the change is meant", c.args)
			assert.Equal(t, got, good(t, strings.Fields(c.args)...), "a second run prints the same")
		})
	}
}

// The examples in the help run.
func TestExamples(t *testing.T) {
	_, appHelp, _ := irdump(t, "", "-help")
	for _, e := range examples {
		t.Run(e.line, func(t *testing.T) {
			words := strings.Fields(e.line)
			require.Equal(t, []string{"irdump", e.command}, words[:2])
			needsCUDA(t, words...)
			good(t, words[1:]...)
			code, help, _ := irdump(t, "", e.command, "-help")
			assert.Equal(t, exitOK, code)
			assert.Contains(t, help, e.line)
			assert.Contains(t, appHelp, "\n  "+e.command+" ")
		})
	}
}

// compiled matches what each version of NVRTC and ptxas makes otherwise.
var compiled = regexp.MustCompile(`(?m)^ *(takes|instructions) .*$`)

// The page's console blocks are what the commands print.
func TestDocumentation(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "irdump.md")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	const open, end = "```console\n$ irdump ", "```\n"
	var got strings.Builder
	rest := string(text)
	blocks := 0
	for {
		before, behind, found := strings.Cut(rest, open)
		got.WriteString(before)
		if !found {
			break
		}
		blocks++
		line, behind, found := strings.Cut(behind, "\n")
		require.True(t, found)
		shown, behind, found := strings.Cut(behind, end)
		require.True(t, found)
		t.Run(line, func(t *testing.T) {
			needsCUDA(t, strings.Fields(line)...)
			now := good(t, strings.Fields(line)...)
			if *update || compiled.ReplaceAllString(now, "") != compiled.ReplaceAllString(shown, "") {
				shown = now
			}
		})
		got.WriteString(open + line + "\n" + shown + end)
		rest = behind
	}
	require.GreaterOrEqual(t, blocks, 4)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(got.String()), 0o644))
		return
	}
	assert.Equal(t, string(text), got.String(), "-update if the change is meant")
}
