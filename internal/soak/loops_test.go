package soak

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// batches are what a training loop goes through again and again.
func batches() (xs, targets [][]float32) {
	for b := range 8 {
		var x, target []float32
		for i := range batch * features {
			x = append(x, float32(math.Sin(float64(b*17+i))))
		}
		for i := range batch {
			target = append(target, x[features*i]-x[features*i+1]*x[features*i+2])
		}
		xs, targets = append(xs, x), append(targets, target)
	}
	return xs, targets
}

// TestTraining trains a small model for long, eagerly and as a graph.
func TestTraining(t *testing.T) { train(t, steps(20_000)) }

// train returns the parameters and their momentum after n steps, which are the
// same eagerly and as a graph.
func train(t *testing.T, n int) []float32 {
	t.Helper()
	xs, targets := batches()
	var final [2][]float32
	for way := range final {
		dev := open(t)
		m := newModel(dev)
		step := func(_ *sinter.Stream, in []*tensor) ([]*tensor, error) { return tensors{m.train(in[0], in[1])}, nil }
		x, target := sinter.NewVar(sinter.Zeros(dev, sinter.F32, batch, features)), sinter.NewVar(sinter.Zeros(dev, sinter.F32, batch, 1))
		run := func(keep func(loss *tensor) error) error {
			return dev.Stream().Scope(func(sc *sinter.Scope) error {
				out, err := step(sc.Stream(), tensors{x.Value().On(sc.Stream()), target.Value().On(sc.Stream())})
				if err != nil {
					return err
				}
				return keep(out[0])
			})
		}
		if way == 1 {
			g, err := graphapi.Capture(ctx, dev.Stream(), step, tensors{x.Value(), target.Value()}, graphapi.RequireHardware())
			require.NoError(t, err)
			x, target = g.In(0), g.In(1)
			run = func(keep func(loss *tensor) error) error {
				if err := g.Replay(); err != nil {
					return err
				}
				return keep(g.Out(0))
			}
		}
		var loss, sum, first, last float32
		repeat(t, dev, n, func(i int) {
			sinter.Write(x, xs[i%len(xs)])
			sinter.Write(target, targets[i%len(xs)])
			require.NoError(t, run(func(l *tensor) (err error) {
				loss, err = sinter.Item[float32](ctx, l)
				return err
			}))
			sum += loss
			if i == len(xs)-1 {
				first = sum
			}
			if (i+1)%len(xs) == 0 {
				last, sum = sum, 0
			}
		})
		require.Less(t, last, first/4, "it learned")
		for _, v := range append(m.params(), m.momentum...) {
			final[way] = append(final[way], read[float32](t, v.Value())...)
		}
	}
	require.Equal(t, final[0], final[1], "eager and replayed")
	return final[0]
}

// TestDecoding draws tokens for long, from a cache in Vars, eagerly and as a
// graph.
func TestDecoding(t *testing.T) { decode(t, steps(20_000)) }

// decode returns what n tokens were, which are the same eagerly and as a graph.
func decode(t *testing.T, n int) []int64 {
	t.Helper()
	var trail [2][]int64
	for way := range trail {
		dev := open(t)
		d := newDecoder(dev)
		s := dev.Stream()
		run := func() (*tensor, error) { return d.step(s), nil }
		if way == 1 {
			g, err := graphapi.Capture(ctx, s, func(s *sinter.Stream, _ []*tensor) ([]*tensor, error) { return tensors{d.step(s)}, nil }, nil,
				graphapi.RequireHardware())
			require.NoError(t, err)
			run = func() (*tensor, error) {
				if err := g.Replay(); err != nil {
					return nil, err
				}
				return g.Out(0), nil
			}
		}
		var drawn [vocabulary]int
		repeat(t, dev, n, func(int) {
			token, err := run()
			require.NoError(t, err)
			k, err := sinter.Item[int64](ctx, token)
			require.NoError(t, err)
			drawn[k]++
		})
		require.Less(t, slices.Max(drawn[:]), n*9/10, "tokens are drawn: %v", drawn)
		trail[way] = append(read[int64](t, d.trail.Value()), read[int64](t, d.position.Value())...)
	}
	require.Equal(t, trail[0], trail[1], "eager and replayed")
	require.Equal(t, int64(n%window), trail[0][1])
	return trail[0]
}

// TestServing answers requests of many sizes on several goroutines with streams
// of their own that come and go, eagerly and by graphs that share memory. A row
// has the same bits whatever it is batched with.
func TestServing(t *testing.T) { serve(t, steps(20_000)) }

func serve(t *testing.T, n int) {
	t.Helper()
	const clients, most = 3, 6
	for way := range 2 {
		dev := open(t)
		m := newModel(dev)
		forward := func(_ *sinter.Stream, in []*tensor) ([]*tensor, error) {
			_, y := m.forward(in[0])
			return tensors{y}, nil
		}
		rows := make([][]float32, 16) // requests and their answers, each computed alone
		want := make([]float32, len(rows))
		for i := range rows {
			rows[i] = []float32{float32(i) / 9, 1 - float32(i)/7, float32(i%3) / 2}
			_, y := m.forward(sinter.From(dev, rows[i], 1, features))
			want[i] = read[float32](t, y)[0]
		}
		type client struct {
			stream *sinter.Stream
			pool   *graphapi.Pool // of its own: no graph of a pool may replay while another is captured in it
			graphs [most + 1]*graphapi.Graph
			reply  [most]float32
		}
		start := func(c *client) error {
			c.stream, c.pool = dev.NewStream(), graphapi.NewPool(dev)
			if way == 0 {
				return nil
			}
			for size := 1; size <= most; size++ {
				g, err := graphapi.Capture(ctx, c.stream, forward, tensors{sinter.Zeros(c.stream, sinter.F32, size, features)},
					graphapi.InPool(c.pool), graphapi.RequireHardware())
				if err != nil {
					return err
				}
				c.graphs[size] = g
			}
			return nil
		}
		stop := func(c *client) error {
			for i, g := range c.graphs {
				if g != nil {
					if err := g.Close(); err != nil {
						return err
					}
				}
				c.graphs[i] = nil
			}
			if err := c.pool.Close(); err != nil {
				return err
			}
			return c.stream.Close()
		}
		answer := func(c *client, k int) error {
			size := 1 + k*5%most
			var data []float32
			for i := range size {
				data = append(data, rows[(k+i)%len(rows)]...)
			}
			check := func(y *tensor) error {
				if err := sinter.ReadInto(ctx, y, c.reply[:size]); err != nil {
					return err
				}
				for i, got := range c.reply[:size] {
					if got != want[(k+i)%len(rows)] {
						return fmt.Errorf("request %d, row %d: %v, want %v", k, i, got, want[(k+i)%len(rows)])
					}
				}
				return nil
			}
			if g := c.graphs[size]; g != nil {
				x := sinter.From(c.stream, data, size, features)
				defer x.Release()
				if err := g.Replay(x); err != nil {
					return err
				}
				return check(g.Out(0))
			}
			return c.stream.Scope(func(sc *sinter.Scope) error {
				y, err := forward(sc.Stream(), tensors{sinter.From(sc, data, size, features)})
				if err != nil {
					return err
				}
				return check(y[0])
			})
		}
		// One step of the harness is a round of requests to every client.
		all := make([]client, clients)
		for i := range all {
			require.NoError(t, start(&all[i]))
		}
		const round = 48
		repeat(t, dev, max(n/round/clients, 5), func(r int) {
			failures := make(chan error, clients)
			for i := range all {
				go func() {
					failures <- func() error {
						c := &all[i]
						for k := range round {
							if err := answer(c, r+k+i); err != nil {
								return err
							}
						}
						if (r+i)%8 == 7 { // the client goes, another comes
							if err := stop(c); err != nil {
								return err
							}
							return start(c)
						}
						return nil
					}()
				}()
			}
			for range all {
				require.NoError(t, <-failures)
			}
		})
		for i := range all {
			require.NoError(t, stop(&all[i]))
		}
	}
}
