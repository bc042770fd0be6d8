package sinter_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// A device with the plans of another explores nothing; others' bytes are
// refused.
func TestSavedPlans(t *testing.T) {
	if _, err := os.Executable(); err != nil {
		t.Skipf("saved plans are told apart by the running program, whose file is not known here: %v", err)
	}
	dir := t.TempDir()
	t.Setenv("SINTER_PLAN_DIR", dir)
	run := func(d *sinter.Device) float32 {
		x := sinter.From(d, []float32{1, 2, 3, 4}, 2, 2)
		y, err := sinter.Item[float32](t.Context(), smooth(x.MatMul(x).AddScalar(1).Relu(), 0.5).Sum())
		require.NoError(t, err)
		return y
	}
	open := func(o ...sinter.Option) *sinter.Device {
		d, err := sinter.Open("cpu", o...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
	one := open()
	want := run(one)
	require.Positive(t, one.Stats().Explorations)
	var saved bytes.Buffer
	require.NoError(t, one.SavePlans(&saved))

	two := open()
	require.Equal(t, want, run(two))
	require.Zero(t, two.Stats().Explorations)

	three := open(sinter.WithPlanDir(""))
	n, err := three.LoadPlans(bytes.NewReader(saved.Bytes()))
	require.NoError(t, err)
	require.EqualValues(t, one.Stats().Explorations, n)
	require.Equal(t, want, run(three))
	require.Zero(t, three.Stats().Explorations)

	unfused := open(sinter.WithFusion(false), sinter.WithPlanDir(""))
	_, err = unfused.LoadPlans(bytes.NewReader(saved.Bytes()))
	plan, ok := errors.AsType[*sinter.PlanError](err)
	require.True(t, ok)
	require.Equal(t, "foreign", string(plan.Fault))
	require.Equal(t, want, run(unfused))
}
