package sinter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

func TestDTypeUsage(t *testing.T) {
	dev := open(t)
	for _, d := range ir.DTypes() {
		u := dev.DTypeUsage(d)
		require.True(t, u.Has(sinter.DTypeStorage), "%v: %v", d, u)
		require.False(t, u.Has(sinter.DTypeAccelerated), "%v: %v", d, u)
		require.Equal(t, !d.IsFloat8(), u.Has(sinter.DTypeArithmetic), "%v: %v", d, u)
		require.Equal(t, !d.IsFloat8(), dev.SupportsDType(d), "%v", d)
	}
	require.Equal(t, "storage, arithmetic", dev.DTypeUsage(sinter.F32).String())
	require.False(t, dev.SupportsDType(ir.Invalid))
	require.Zero(t, dev.DTypeUsage(ir.DType(255)))
	require.NoError(t, dev.Close())
	require.True(t, dev.SupportsDType(sinter.F32), "a property of the device, open or not")
}
