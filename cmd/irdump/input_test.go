package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func programs(t testing.TB) map[string]*ir.Program {
	t.Helper()
	files, err := filepath.Glob("testdata/*.sinter")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := map[string]*ir.Program{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		p, err := ir.ParseProgram(string(text))
		require.NoError(t, err, f)
		out[f] = p
	}
	return out
}

// The text and the JSON form of a program say the same, from a file or from
// standard input.
func TestForms(t *testing.T) {
	for file, p := range programs(t) {
		form, err := json.MarshalIndent(p, "", "\t")
		require.NoError(t, err)
		for _, command := range []string{"ops", "fuse", "kernels"} {
			want := good(t, command, file)
			for _, in := range []string{p.String(), string(form), "\n " + string(form)} {
				for _, args := range [][]string{{command}, {command, "-"}} {
					code, out, errs := irdump(t, in, args...)
					require.Equal(t, exitOK, code, errs)
					assert.Equal(t, want, out)
				}
			}
		}
	}
}

var placed = regexp.MustCompile(`^irdump: standard input: \d+:\d+: `)

func TestBadInput(t *testing.T) {
	text := programs(t)["testdata/softmax.sinter"].String()
	form, err := json.MarshalIndent(programs(t)["testdata/softmax.sinter"], "", "  ")
	require.NoError(t, err)
	lines := strings.Split(string(form), "\n")
	lineOf := func(part string, nth int) int {
		for i, l := range lines {
			if strings.Contains(l, part) {
				if nth--; nth < 0 {
					return i + 1
				}
			}
		}
		t.Fatal(part)
		return 0
	}
	change := func(old, new string) string { return strings.Replace(string(form), old, new, 1) }
	cases := []struct{ name, in, want string }{
		{"empty", "", "1:1: no program"},
		{"no header", "hello\n", "1:1: want the header"},
		{"bad kind", strings.Replace(text, "Exp", "Explode", 1), `5:30: there is no kind "Explode"`},
		{"bad shape", strings.Replace(text, "f32[8,1] = Max", "f32[8,2] = Max", 1), "3:21: %1 is recorded as"},
		{"open brace", "{", "1:2: unexpected EOF"},
		{"not JSON", "{\n  garbage", "2:3: invalid character"},
		{"no version", "{}", `1:1: version is ""`},
		{"type", change(`"id": 0`, `"id": "zero"`), ""},
		{"JSON kind", change(`"kind": "Exp"`, `"kind": "Explode"`), `operation 2: there is no kind "Explode"`},
		{"trace header", `{"version":"sinter.trace v1","device":7}`, "1:"},
		{"trace line", `{"version":"sinter.trace v1"}` + "\n{]\n", "2:2: "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, command := range []string{"ops", "fuse", "kernels"} {
				code, out, errs := irdump(t, c.in, command)
				assert.Equal(t, exitInput, code)
				assert.Empty(t, out)
				assert.Regexp(t, placed, errs)
				assert.Contains(t, errs, c.want)
			}
		})
	}
	// The error of an operation stands at the operation.
	_, _, errs := irdump(t, change(`"kind": "Exp"`, `"kind": "Explode"`), "ops")
	at := regexp.MustCompile(`(\d+):(\d+): operation 2`).FindStringSubmatch(errs)
	require.NotNil(t, at, errs)
	brace := lineOf(`"kind": "Exp"`, 0) - 1
	assert.Equal(t, itoa(brace), at[1])
	assert.Equal(t, itoa(strings.Index(lines[brace-1], "{")+1), at[2])
}

func itoa(n int) string { return strings.TrimSpace(string(mustJSON(n))) }

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// hostile are programs at the limits of what is valid.
var hostile = []string{
	"sinter.program v1\n",
	"sinter.program v1\ninput %0 f32[]\n",
	"sinter.program v1\ninput %18446744073709551615 f32[2]\n%7 f32[2] = Exp %18446744073709551615\noutput %7\n",
	"sinter.program v1\ninput %0 f32[0,3]\n%1 f32[0,3] = Exp %0\n%2 f32[1,3] = Sum %1 axes[0]\noutput %2, %2, %0\n",
	"sinter.program v1\ninput %0 i64[]\n%1 i64[] = Add %0, %0\noutput %1\n",
	"sinter.program v1\ninput %0 \"\\u001b[31m\" f32[1,1]\n%1 \"a\\nb\" f32[1,1] = MatMul %0, %0 @\"a b:1\"\noutput %1\n",
	"sinter.program v1\nvar %0 f32[2]\ninput %1 f32[2]\n%2 f32[2] = Exp %0\n%3 f32[2] = Set %0, %1\n%4 f32[2] = Exp %0\noutput %2, %4\n",
	"sinter.program v1\ninput %0 f32[1048576,268435456]\n%1 f32[1048576,268435456] = Exp %0\n%2 f32[1048576,268435456] = Neg %1\noutput %2\n",
}

func TestHostilePrograms(t *testing.T) {
	for _, in := range hostile {
		for _, args := range [][]string{{"ops"}, {"fuse"}, {"kernels"}, {"fuse", "-force"}, {"fuse", "-keep"}, {"fuse", "-no-fusion"}, {"ops", "-json"}, {"fuse", "-json"}} {
			code, _, errs := irdump(t, in, args...)
			assert.Equal(t, exitOK, code, "%s\n%s", in, errs)
		}
	}
}

// Garbage, cut and damaged input is refused with its place, or taken for what
// it still is; nothing panics.
func TestDamagedInput(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var whole [][]byte
	for _, p := range programs(t) {
		form, err := json.Marshal(p)
		require.NoError(t, err)
		whole = append(whole, []byte(p.String()), form)
	}
	raw, err := os.ReadFile("testdata/trace.jsonl")
	require.NoError(t, err)
	whole = append(whole, raw)
	check := func(in []byte) {
		t.Helper()
		command := []string{"ops", "fuse", "kernels"}[r.IntN(3)]
		code, _, errs := irdump(t, string(in), command)
		if code != exitOK {
			assert.Equal(t, exitInput, code)
			assert.Regexp(t, placed, errs)
		}
	}
	for _, data := range whole {
		for range 40 {
			check(data[:r.IntN(len(data))])
			damaged := bytes.Clone(data)
			for range 1 + r.IntN(3) {
				damaged[r.IntN(len(damaged))] = byte(r.Uint32())
			}
			check(damaged)
		}
	}
	for range 100 {
		garbage := make([]byte, r.IntN(200))
		for i := range garbage {
			garbage[i] = byte(r.Uint32())
		}
		check(garbage)
	}
}

func FuzzInput(f *testing.F) {
	for _, p := range programs(f) {
		f.Add([]byte(p.String()))
		f.Add(mustJSON(p))
	}
	for _, in := range hostile {
		f.Add([]byte(in))
	}
	raw, err := os.ReadFile("testdata/trace.jsonl")
	require.NoError(f, err)
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, command := range []string{"ops", "fuse", "kernels"} {
			var out, errs bytes.Buffer
			code := run([]string{command}, bytes.NewReader(data), &out, &errs)
			if code != exitOK && code != exitInput {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
		}
	})
}
