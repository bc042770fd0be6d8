package trace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// TestCountersAndSequences: a trace tells which segments are plans of one
// recorded sequence, why the runtime ran some for itself, and the counters of
// each device at its end.
func TestCountersAndSequences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	a, b := open(t, fusion.Options{}), open(t, fusion.Options{})
	wa, err := Open(path, header(a))
	require.NoError(t, err)
	wb, err := Open(path, header(b))
	require.NoError(t, err)
	a.Observe(wa.Observe)
	b.Observe(wb.Observe)
	run := func(rt *fusion.Runtime, late bool) {
		s := rt.Default()
		y := s.Record(ir.Operation{Kind: ir.Exp, PC: pc()}, from(s, 4))
		z := s.Record(ir.Operation{Kind: ir.Neg, PC: pc()}, y)
		require.NoError(t, z.Read(t.Context(), make([]byte, 16)))
		if late {
			require.NoError(t, y.Read(t.Context(), make([]byte, 16)))
		}
	}
	for range 3 {
		run(a, true)
	}
	run(b, false)
	wa.Counted(a.Stats())
	require.NoError(t, wa.Close())
	wa.Counted(a.Stats()) // closed: left out
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	tr, err := Read(bytes.NewReader(raw))
	require.NoError(t, err)
	type seg struct {
		device, sequence, plan int
		why                    fusion.Why
	}
	var got []seg
	for _, s := range tr.Segments {
		got = append(got, seg{s.Device, s.Sequence, s.Plan, s.Why})
	}
	require.Equal(t, []seg{{0, 1, 1, ""}, {0, 2, 1, fusion.WhyRecomputed}, {0, 1, 2, ""}, {1, 1, 1, ""}}, got)
	require.Equal(t, []map[string]int64{a.Stats().Counts(), nil}, tr.Counters)
	require.Equal(t, int64(1), tr.Counters[0]["recomputed"])
	require.NotContains(t, tr.Counters[0], "fallbacks", "those that are zero are left out")
	require.NoError(t, wb.Close())

	r, err := NewReader(strings.NewReader(strings.SplitAfter(string(raw), "\n")[0] + `{"on":1,"counters":{"launches":1}}` + "\n"))
	require.NoError(t, err)
	_, err = r.Next()
	var format *FormatError
	require.True(t, errors.As(err, &format), "%v", err)
	require.Equal(t, 2, format.Line)
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
}

// The counters of a device that did nothing are none, which is not the same as
// not known: it was closed.
func TestCountersOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	rt := open(t, fusion.Options{})
	w, err := Open(path, header(rt))
	require.NoError(t, err)
	w.Counted(rt.Stats())
	require.NoError(t, w.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	tr, err := Read(bytes.NewReader(raw))
	require.NoError(t, err, "%s", raw)
	require.True(t, tr.Complete)
	require.Equal(t, []map[string]int64{{}}, tr.Counters)
}
