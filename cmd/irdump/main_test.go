package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/optimize"
)

func TestGoStyle(t *testing.T) {
	cases := []struct{ in, want string }{
		{"fuse -json x", "fuse --json x"},
		{"fuse --json x", "fuse --json x"},
		{"fuse -h -", "fuse -h -"},
		{"fuse -why %3 %4 x", "fuse --why=%3 --why=%4 x"},
		{"fuse x --why a b", "fuse x --why=a --why=b"},
		{"fuse x -why a", "fuse x --why=a"},
		{"fuse x -why", "fuse x --why"},
		{"fuse -- -why a b", "fuse -- -why a b"},
		{"kernels -block=2 x", "kernels --block=2 x"},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, strings.Join(goStyle(strings.Fields(c.in)), " "))
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range []string{
		"", "nothing", "fuse -nothing", "ops a b", "kernels -block x testdata/softmax.sinter", "fuse -why",
		"fuse -why %3", "fuse -why %3 %4 -why %3 %5 testdata/softmax.sinter",
		"fuse -no-fuser nobody testdata/softmax.sinter", "kernels -no-pass nothing testdata/softmax.sinter", "fuse -no-rule shape testdata/softmax.sinter", "rules testdata/softmax.sinter",
	} {
		code, out, errs := irdump(t, "", strings.Fields(args)...)
		assert.Equal(t, exitUsage, code, "irdump %s", args)
		assert.Empty(t, out)
		assert.Contains(t, errs, "-help")
	}
}

func TestInputErrors(t *testing.T) {
	cases := []struct{ args, want string }{
		{"ops testdata/missing", "missing"},
		{"ops testdata", "testdata"},
		{"fuse -segment 2 testdata/softmax.sinter", "there is no segment 2"},
		{"fuse -segment=-1 testdata/softmax.sinter", "there is no segment -1"},
		{"kernels -block 7 testdata/softmax.sinter", "softmax.sinter: there is no block 7"},
		{"fuse -why %0 %3 testdata/softmax.sinter", "%0 is no operation's result"},
		{"fuse -why %3 %99 testdata/softmax.sinter", "there is no tensor %99"},
		{"fuse -why exp nothing testdata/softmax.sinter", `"nothing" names no operation`},
		{"fuse -why exp softmax.go:11 testdata/softmax.sinter", `"softmax.go:11" names several operations: %2 Sub, %3 Exp`},
		{"fuse -why exp max.go:13 testdata/softmax.sinter", `"max.go:13" names no operation`},
	}
	for _, c := range cases {
		code, out, errs := irdump(t, "", strings.Fields(c.args)...)
		assert.Equal(t, exitInput, code, "irdump %s", c.args)
		assert.Empty(t, out)
		assert.Contains(t, errs, c.want)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-help"}, {"--help"}, {"-h"}, {"fuse", "-help"}, {"kernels", "--help", "x"}} {
		code, out, errs := irdump(t, "", args...)
		assert.Equal(t, exitOK, code)
		assert.Contains(t, out, "Usage: irdump")
		assert.Empty(t, errs)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errors.New("cannot be read") }
func (broken) Write([]byte) (int, error) { return 0, errors.New("cannot be written") }

func TestStreamsThatFail(t *testing.T) {
	var errs strings.Builder
	assert.Equal(t, exitInput, run([]string{"ops"}, broken{}, io.Discard, &errs))
	assert.Contains(t, errs.String(), "cannot be read")
	errs.Reset()
	assert.Equal(t, exitInput, run([]string{"ops", "testdata/mlp.sinter"}, broken{}, broken{}, &errs))
	assert.Contains(t, errs.String(), "cannot be written")
}

// The tables are printed whole.
func TestTables(t *testing.T) {
	text := good(t, "rules")
	var got struct {
		Rules  []rule
		Fusers []help
		Passes []help
	}
	for _, command := range []string{"rules", "fusers", "passes"} {
		require.NoError(t, json.Unmarshal([]byte(good(t, command, "-json")), &got))
	}
	seen := map[string]bool{}
	for _, r := range got.Rules {
		assert.False(t, seen[r.Name], "%s is there twice", r.Name)
		seen[r.Name] = true
		assert.NotEmpty(t, r.Doc, r.Name)
		assert.Contains(t, text, r.Doc)
	}
	for _, r := range fuser.Rules {
		assert.Contains(t, got.Rules, rule{string(r.Rule), "fuser", r.Profit, r.Doc})
	}
	for _, r := range optimize.Rules {
		assert.Contains(t, got.Rules, rule{string(r.Rule), "planner", r.Profit, r.Doc})
	}
	text = good(t, "fusers")
	require.Len(t, got.Fusers, len(fuser.Default())+1)
	assert.Equal(t, help{fuser.HorizontalName, fuser.HorizontalDoc}, got.Fusers[len(fuser.Default())])
	for i, f := range fuser.Default() {
		assert.Equal(t, help{f.Name, f.Doc}, got.Fusers[i])
		assert.Contains(t, text, f.Doc)
	}
	text = good(t, "passes")
	require.Len(t, got.Passes, len(optimize.Passes))
	for i, p := range optimize.Passes {
		assert.Equal(t, help{p.Name, p.Doc}, got.Passes[i])
		assert.Contains(t, text, p.Doc)
	}
}
