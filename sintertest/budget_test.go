package sintertest_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/backendtest"
	"github.com/sinter-ml/sinter/backend/null"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/internal/race"
	"github.com/sinter-ml/sinter/sintertest"
)

// spy is a test that notes what it is told instead of failing.
type spy struct {
	testing.TB
	errors []string
	fatal  bool
}

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) {
	s.errors = append(s.errors, fmt.Sprintf(format, args...))
}

// Fatalf ends the goroutine as a test's does.
func (s *spy) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	s.fatal = true
	runtime.Goexit()
}

// budget runs Budget on a test of its own and returns what it was told.
func budget(at sintertest.Target, fn func(), limits ...sintertest.Limit) *spy {
	s := &spy{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		sintertest.Budget(s, at, fn, limits...)
	}()
	<-done
	return s
}

func open(t *testing.T) *sinter.Device {
	t.Helper()
	dev, err := sinter.Open("cpu", sinter.WithWorkers(1))
	require.NoError(t, err)
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

// TestBudget pins a step with one fused launch, exactly and from below.
func TestBudget(t *testing.T) {
	dev := open(t)
	v := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4}, 4))
	runs := 0
	step := func() {
		runs++
		require.NoError(t, dev.Stream().Scope(func(*sinter.Scope) error {
			v.Set(v.Value().AddScalar(1).MulScalar(0.5).Tanh())
			return nil
		}))
	}
	sintertest.Budget(t, dev, step, sintertest.Launches(1), sintertest.Plans(0), sintertest.Compiles(0), sintertest.Allocs(0),
		sintertest.Reserves(0), sintertest.Copies(0), sintertest.Bytes(32), sintertest.Recorded(4), sintertest.Recomputed(0),
		sintertest.VersionCopies(0), sintertest.Fallbacks(0))
	require.Less(t, runs, 8, "it settles")
	sintertest.Budget(t, dev.Stream(), step, sintertest.Launches(1), sintertest.Plans(0))

	for _, c := range []struct {
		limit sintertest.Limit
		says  []string
	}{
		{sintertest.Launches(0), []string{"launches: 1, the budget is 0", "launch 1, kernel ", "Tanh at ", "budget_test.go:"}},
		{sintertest.Bytes(31), []string{"bytes read and written: 32, the budget is 31", "(32 bytes read and written)", "Tanh at "}},
		{sintertest.Recorded(3), []string{"operations: 4, the budget is 3", "segment of length 4, recorded: from Add at ", " to Set at "}},
	} {
		for _, at := range []sintertest.Target{dev, dev.Stream()} {
			got := budget(at, step, c.limit, sintertest.Plans(0))
			require.Len(t, got.errors, 1)
			require.False(t, got.fatal)
			require.NotContains(t, got.errors[0], "plans")
			for _, want := range c.says {
				require.Contains(t, got.errors[0], want)
			}
		}
	}
}

// TestBudgetNamesPlans: a step of new lengths each time never settles, and the
// message says what was planned.
func TestBudgetNamesPlans(t *testing.T) {
	dev := open(t)
	n := 1
	got := budget(dev, func() {
		n++
		x := sinter.From(dev, make([]float32, n*3), n, 3)
		y := x.AddScalar(1)
		for range n { // another program each time
			y = y.MulScalar(2)
		}
		_, _ = sinter.Read[float32](context.Background(), y)
	}, sintertest.Plans(0), sintertest.Compiles(0), sintertest.Allocs(0), sintertest.Copies(1))
	require.Len(t, got.errors, 1)
	for _, want := range []string{
		"plans: 1, the budget is 0", "compiles: 1, the budget is 0", "allocations: 2, the budget is 0", "copies: 2, the budget is 1",
		"recorded and planned: from Add at ", "budget_test.go:", "(1 allocations)", "1 allocations for no launch: host data and copies",
		"2 copies for no launch: host data, reads and inputs of graphs", "after 8 runs each still cost something else",
	} {
		require.Contains(t, got.errors[0], want)
	}
}

// TestBudgetOfReplay: a replay records, allocates and copies nothing, on the Go
// heap neither.
func TestBudgetOfReplay(t *testing.T) {
	dev := open(t)
	w := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2))
	g, err := graphapi.Capture(t.Context(), dev.Stream(), func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{in[0].MatMul(w.Value()).Softmax(-1)}, nil
	}, []*sinter.Tensor{sinter.From(dev, []float32{1, 0, 0, 1}, 2, 2)})
	require.NoError(t, err)
	replay := func() {
		if err := g.Replay(); err != nil {
			t.Error(err)
		}
	}
	sintertest.Budget(t, dev, replay, sintertest.Launches(g.Launches()), sintertest.Recorded(0), sintertest.Allocs(0), sintertest.Copies(0))
	if !race.Enabled {
		sintertest.Budget(t, dev, replay, sintertest.GoAllocs(0))
	}
	got := budget(dev, replay, sintertest.Launches(0))
	require.Len(t, got.errors, 1)
	require.Contains(t, got.errors[0], "replayed launch 1, kernel ")
	require.Contains(t, got.errors[0], "budget_test.go:")
	grow := func() { kept = append([]int(nil), make([]int, 1000)...) }
	require.Contains(t, budget(dev, grow, sintertest.GoAllocs(0)).errors[0], "Go allocations: ")
}

var kept []int

// TestBudgetElsewhere: launches on other streams count for a device and are
// said not to be listed.
func TestBudgetElsewhere(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2}, 2)
	step := func() {
		require.NoError(t, dev.Scope(func(sc *sinter.Scope) error {
			_, err := sinter.Read[float32](context.Background(), x.On(sc.Stream()).Exp())
			return err
		}))
	}
	got := budget(dev, step, sintertest.Launches(0))
	require.Contains(t, got.errors[0], "and 1 launches on other streams")
	sintertest.Budget(t, dev.Stream(), step, sintertest.Launches(0))
}

// TestBudgetErrors: what cannot be measured ends the test.
func TestBudgetErrors(t *testing.T) {
	dev := open(t)
	one := sintertest.Launches(1)
	for name, got := range map[string]*spy{
		"no device": budget((*sinter.Device)(nil), func() {}, one),
		"no stream": budget((*sinter.Stream)(nil), func() {}, one),
		"nothing":   budget(nil, func() {}, one),
		"no func":   budget(dev, nil, one),
		"no limit":  budget(dev, func() {}),
		"an operation failed": budget(dev, func() {
			sinter.From(dev, []float32{1}, 1).Reshape(3)
		}, one),
	} {
		require.True(t, got.fatal, name)
		require.Len(t, got.errors, 1, name)
	}
	// A function that ends the test leaves no window behind.
	s := &spy{}
	done := make(chan struct{})
	runs := 0
	go func() {
		defer close(done)
		sintertest.Budget(s, dev, func() {
			if runs++; runs == 3 {
				s.Fatalf("stop")
			}
		}, one)
	}()
	<-done
	require.Equal(t, []string{"stop"}, s.errors)
	sintertest.Budget(t, dev, func() {}, sintertest.Launches(0))
}

// The device that cannot tell when its launches ran is the null device without
// that.
func init() {
	backend.Register("test-plain", backend.Driver{Rank: -1, Open: func(int, backend.Options) (backend.Device, error) {
		return struct{ backend.Device }{null.Open(backend.Options{})}, nil
	}})
}

// faulty returns the device the driver "test-faulty" opened last.
var faulty = backendtest.RegisterFaulty("test-faulty", "cpu")

// TestBudgetWithoutProfiles: the counts are pinned on every device.
func TestBudgetWithoutProfiles(t *testing.T) {
	dev, err := sinter.Open("test-plain")
	require.NoError(t, err)
	defer dev.Close()
	x := sinter.From(dev, []float32{1, 2}, 2)
	step := func() { _, _ = sinter.Read[float32](context.Background(), x.Exp()) }
	sintertest.Budget(t, dev, step, sintertest.Launches(1))
	got := budget(dev, step, sintertest.Launches(0))
	require.Equal(t, []string{"over budget:\n\tlaunches: 1, the budget is 0"}, got.errors)
}

// TestBudgetNamesCauses: what is recomputed, kept of old versions or fell apart
// is named.
func TestBudgetNamesCauses(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 4)
	n := 0
	got := budget(dev, func() {
		n++
		late := x.AddScalar(1)
		for range n { // what is remembered of one run does not help the next
			late = late.MulScalar(2)
		}
		for _, y := range []*sinter.Tensor{late.Exp(), late} {
			_, _ = sinter.Read[float32](context.Background(), y)
		}
	}, sintertest.Recomputed(0))
	require.Contains(t, got.errors[0], "recomputations: 1, the budget is 0")
	require.Contains(t, got.errors[0], "segment of length 1, recomputed: from Mul at ")

	v := sinter.NewVar(x.MulScalar(1))
	kept := []*sinter.Tensor{}
	got = budget(dev, func() {
		kept = append(kept, v.Value())
		v.SetSlice(x.Slice(sinter.Span(0, 2)), sinter.Span(0, 2))
	}, sintertest.VersionCopies(0))
	require.Contains(t, got.errors[0], "copies of old versions: 1, the budget is 0")
	require.Contains(t, got.errors[0], "SetSlice at ")
	require.NotEmpty(t, kept)

	bad, err := sinter.Open("test-faulty", sinter.WithLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	defer bad.Close()
	y := sinter.From(bad, []float32{1, 2, 3, 4}, 4)
	got = budget(bad, func() {
		faulty().FailAt(backend.CallLaunch, 1)
		_, _ = sinter.Read[float32](context.Background(), y.AddScalar(1).MulScalar(2))
	}, sintertest.Fallbacks(0))
	require.Contains(t, got.errors[0], "fallbacks: 1, the budget is 0")
	require.Contains(t, got.errors[0], "Add at ")
	require.Contains(t, got.errors[0], "Mul at ")
}
