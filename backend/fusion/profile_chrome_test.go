package fusion_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// traceEvent is an event as a reader of the format sees it.
type traceEvent struct {
	Name string         `json:"name"`
	Cat  string         `json:"cat"`
	Ph   string         `json:"ph"`
	Ts   *float64       `json:"ts"`
	Dur  *float64       `json:"dur"`
	PID  *int           `json:"pid"`
	TID  *int           `json:"tid"`
	ID   string         `json:"id"`
	Args map[string]any `json:"args"`
}

// readTrace parses a trace and checks what every reader relies on: each event
// has its fields, the slices of a thread nest, and asynchronous events pair up.
func readTrace(t *testing.T, reports ...*fusion.ProfileReport) []traceEvent {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, fusion.WriteChromeTrace(&b, reports...))
	var file struct {
		Events []traceEvent `json:"traceEvents"`
		Unit   string       `json:"displayTimeUnit"`
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&file))
	require.NotNil(t, file.Events)
	require.Contains(t, []string{"ns", "ms"}, file.Unit)
	open := map[string][]float64{} // by thread: the ends of the slices that are open
	pending := map[string]string{}
	for _, e := range file.Events {
		require.NotNil(t, e.Ts, e.Name)
		require.NotNil(t, e.PID, e.Name)
		require.NotNil(t, e.TID, e.Name)
		require.NotEmpty(t, e.Name)
		require.GreaterOrEqual(t, *e.Ts, 0.0)
		switch e.Ph {
		case "M":
			require.Contains(t, []string{"process_name", "thread_name"}, e.Name)
			require.NotEmpty(t, e.Args["name"])
		case "X":
			thread := fmt.Sprint(*e.PID, *e.TID)
			const slack = 1e-6 // of a sum of microseconds as float64
			end := *e.Ts + *e.Dur
			stack := slices.DeleteFunc(open[thread], func(x float64) bool { return x <= *e.Ts+slack })
			require.Equal(t, e.Cat == "kernel", len(stack) > 0, "kernels lie in blocks, blocks in nothing")
			if n := len(stack); n > 0 {
				require.LessOrEqual(t, end, stack[n-1]+slack, "%s does not nest", e.Name)
			}
			open[thread] = append(stack, end)
		case "b":
			require.Empty(t, pending[e.Cat+e.ID])
			pending[e.Cat+e.ID] = e.Name
		case "e":
			require.Equal(t, pending[e.Cat+e.ID], e.Name)
			delete(pending, e.Cat+e.ID)
		default:
			t.Errorf("event of phase %q", e.Ph)
		}
	}
	require.Empty(t, pending)
	return file.Events
}

func ofPhase(events []traceEvent, ph, cat string) (names []string) {
	for _, e := range events {
		if e.Ph == ph && e.Cat == cat {
			names = append(names, e.Name)
		}
	}
	return names
}

// TestChromeTrace writes overlapping windows of two streams and a device more.
func TestChromeTrace(t *testing.T) {
	rt, _ := nullRuntime(t, fuser.Default())
	s := rt.Default()
	x := fromOnes(s, 64)
	a := openProfile(t, s, "a")
	y := s.Record(here(scalarOp(ir.Mul, 2)), s.Record(scalarOp(ir.Add, 1), x))
	read(t, y)
	b := openProfile(t, s, "b")
	read(t, s.Record(ir.Operation{Kind: ir.Exp}, y))
	closeProfile(t, a)
	read(t, s.Record(ir.Operation{Kind: ir.Neg}, y))
	closeProfile(t, b)
	empty := openProfile(t, s, "empty")
	closeProfile(t, empty)

	s2 := other(t, rt)
	c := openProfile(t, s2, "")
	read(t, s2.Record(ir.Operation{Kind: ir.Tanh}, fromOnes(s2, 8)))
	closeProfile(t, c)

	rt2, _ := nullRuntime(t, nil)
	d := openProfile(t, rt2.Default(), "d")
	read(t, rt2.Default().Record(ir.Operation{Kind: ir.Sqrt}, fromOnes(rt2.Default(), 8)))
	closeProfile(t, d)

	events := readTrace(t, report(t, a), report(t, b), report(t, empty), report(t, c), report(t, d))
	require.ElementsMatch(t, []string{"a", "b", "window 4", "d"}, ofPhase(events, "b", "window"))
	require.ElementsMatch(t, []string{"elementwise", "Exp", "Neg", "Tanh", "Sqrt"}, ofPhase(events, "X", "block"), "each launch once")
	require.Len(t, ofPhase(events, "X", "kernel"), 5)
	threads := map[string]string{}
	for _, e := range events {
		if e.Ph == "M" {
			threads[fmt.Sprintf("%s %d %d", e.Name, *e.PID, *e.TID)] = e.Args["name"].(string)
		}
	}
	require.Equal(t, map[string]string{
		"process_name 1 0": "null", "thread_name 1 1": "stream 1", "thread_name 1 2": "stream 2",
		"process_name 2 0": "null", "thread_name 2 1": "stream 1",
	}, threads)
	for _, e := range events {
		if e.Cat == "kernel" && *e.PID == 1 && *e.TID == 1 && *e.Ts == 0 {
			require.InDelta(t, 5.051, *e.Dur, 1e-9, "5 µs and 512 bytes at 10 a nanosecond, in whole nanoseconds")
			ops := fmt.Sprint(e.Args["operations"])
			require.True(t, strings.Contains(ops, "Add") && strings.Contains(ops, "Mul at ") && strings.Contains(ops, "profile_chrome_test.go:"), ops)
			require.Equal(t, []any{256.0, 256.0, "recorded"}, []any{e.Args["bytes read"], e.Args["bytes written"], e.Args["why"]})
		}
	}
	require.Empty(t, readTrace(t))
	require.Empty(t, readTrace(t, report(t, empty)))
}
