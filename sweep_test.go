package sinter_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// handles reports whether a function records nothing, but names a tensor, says
// where it goes, or keeps it.
func handles(name string) bool {
	return slices.Contains([]string{"Named", "On", "To", "NewQTensor"}, name)
}

// Every function of tensors takes whatever it is given: an error that has a
// type, or the right value.
func TestSweep(t *testing.T) {
	other, closed := open(t), open(t)
	gone := make(map[string]*tensor)
	calls := sweepCalls()
	for _, c := range calls {
		for _, o := range c.in {
			gone[fmt.Sprint(o)] = o.make(closed)
		}
	}
	require.NoError(t, closed.Close())
	dev := open(t)
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			out, err := c.call(dev, c.operands(dev))
			require.NoError(t, err)
			for _, r := range out {
				require.NoError(t, r.failed(), "the right call")
			}
			may(t, out, err, "the right call")
			require.NoError(t, dev.Flush(ctx))
			for i, o := range c.in {
				with := func(x *tensor) ([]result, error) {
					in := c.operands(dev)
					in[i] = x
					return c.call(dev, in)
				}
				out, err := with(nil)
				switch {
				case slices.Contains(c.optional, i), c.name == "Named":
					may(t, out, err, "operand %d nil", i)
				default:
					must(t, out, err, "operand %d nil", i)
				}
				bad := o.make(dev).Reshape(7)
				out, err = with(bad)
				must(t, out, err, "operand %d failed", i)
				for _, r := range out {
					if e := r.failed(); e != nil && e != bad.Err() {
						t.Errorf("operand %d failed: the first cause is lost: %v", i, e)
					}
				}
				dead := o.make(dev)
				dead.Release()
				out, err = with(dead)
				must(t, out, err, "operand %d released", i)
				out, err = with(gone[fmt.Sprint(o)])
				if handles(c.name) {
					may(t, out, err, "operand %d of a closed device", i)
				} else {
					must(t, out, err, "operand %d of a closed device", i)
				}
				out, err = with(o.make(other))
				if len(c.in) == 1 || handles(c.name) {
					may(t, out, err, "operand %d of another device", i)
				} else {
					must(t, out, err, "operand %d of another device", i)
				}
				for _, dims := range []shape{{}, {0}, {1}, {3}, {0, 2}, {2, 0}, {2, 1, 3}} {
					out, err = with(operand{o.dtype, dims}.make(dev))
					may(t, out, err, "operand %d %v", i, dims)
				}
			}
			for _, d := range ir.DTypes() {
				in := c.operands(dev)
				for i, o := range c.in {
					if o.dtype == c.in[0].dtype {
						in[i] = operand{d, o.dims}.make(dev)
					}
				}
				out, err := c.call(dev, in)
				may(t, out, err, "operands %v", d)
			}
			in := c.operands(dev)
			for i, o := range c.in {
				if fmt.Sprint(o) == fmt.Sprint(c.in[0]) {
					in[i] = in[0]
				}
			}
			out, err = c.call(dev, in)
			may(t, out, err, "one tensor for all operands")
			settle(dev)

			// Sizes near and beyond what there can be are recorded, or refused.
			err = dev.Scope(func(sc *sinter.Scope) error {
				in := make(tensors, len(c.in))
				for i, o := range c.in {
					in[i] = sinter.Zeros(sc, o.dtype).Expand(slices.Repeat([]int{1 << 23}, min(len(o.dims), 2))...)
				}
				if strings.HasPrefix(c.name, "Read") || c.name == "Item" {
					return nil // there is no memory for it
				}
				out, err := c.call(dev, in)
				if err != nil {
					t.Errorf("huge operands: %v", err)
				}
				for _, r := range out {
					if e := r.failed(); e != nil && !typed(e) {
						t.Errorf("huge operands: not a typed error: %v", e)
					}
				}
				return nil
			})
			require.True(t, err == nil || typed(err), "%v", err)
			settle(dev)
			require.Equal(t, []float32{3}, read[float32](t, sinter.Full(dev, sinter.F32, 1, 1).AddScalar(2)), "the device is usable")
		})
	}
}

func TestSweepMakers(t *testing.T) {
	dev, closed := open(t), open(t)
	stream := closed.NewStream()
	require.NoError(t, closed.Close())
	for name, f := range makers {
		for what, at := range map[string]sinter.Placer{"nil": nil, "device": (*sinter.Device)(nil), "stream": (*sinter.Stream)(nil), "scope": (*sinter.Scope)(nil)} {
			must(t, []result{{t: f(at, ir.F32, 2, 3)}}, nil, "%s at no %s", name, what)
		}
		must(t, []result{{t: f(closed, ir.F32, 2, 3)}}, nil, "%s at a closed device", name)
		must(t, []result{{t: f(stream, ir.F32, 2, 3)}}, nil, "%s at a stream of a closed device", name)
		for _, d := range append(ir.DTypes(), ir.Invalid, 99) {
			may(t, []result{{t: f(dev, d, 2, 3)}}, nil, "%s of %v", name, d)
		}
		for _, dims := range []shape{{}, {0}, {0, 3}, {-1}, {-2, -3}, {math.MaxInt / 2, math.MaxInt / 3}, {math.MaxInt/2 + 1, 4}, slices.Repeat(shape{1}, 65)} {
			x := f(dev, ir.F32, dims...)
			if x.Err() != nil || x.Shape().NumElements() < 100 {
				may(t, []result{{t: x}}, nil, "%s %v", name, dims)
			}
		}
		settle(dev)
	}
}
