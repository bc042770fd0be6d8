package fusion_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

// checkProgram runs a program in every way and returns the first difference.
func checkProgram(p *ir.Program, d progen.Data, seed uint64) error {
	return checkWays(way.play, "", p, d, seed, ways...)
}

// checkWays runs a program on a device unfused, compares it with the oracle, and
// runs it in other ways; it returns the first difference.
func checkWays(play playing, device string, p *ir.Program, d progen.Data, seed uint64, ways ...way) error {
	want, err := play(plainWay.on(device), p, d, seed)
	if err != nil {
		return fmt.Errorf("%s: %w", plainWay.name, err)
	}
	if err := checkOracle(p, d, want); err != nil {
		return err
	}
	for _, w := range ways {
		got, err := play(w.on(device), p, d, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		for i := range p.Ops {
			id := p.Ops[i].Outputs[0].ID
			if g, ok := got[id]; ok {
				if err := sameResult(g, want[id]); err != nil {
					return fmt.Errorf("%s: %%%d: %w", w.name, id, err)
				}
			}
		}
		for _, v := range p.Vars {
			if g, ok := got[v.ID]; ok {
				if err := sameResult(g, want[v.ID]); err != nil {
					return fmt.Errorf("%s: %%%d: %w", w.name, v.ID, err)
				}
			}
		}
	}
	return nil
}

func sameResult(got, want result) error {
	switch {
	case got.err != nil && want.err != nil:
		var a, b *ir.IndexError
		if !errors.As(got.err, &a) || !errors.As(want.err, &b) {
			return fmt.Errorf("fails with %w, not with %w", got.err, want.err)
		}
	case got.err != nil:
		return got.err
	case want.err != nil:
		return fmt.Errorf("does not fail with %w", want.err)
	case string(got.data) != string(want.data):
		for i := range got.data {
			if got.data[i] != want.data[i] {
				return fmt.Errorf("differs at byte %d of %d", i, len(got.data))
			}
		}
	}
	return nil
}

// checkOracle compares every result with the oracle's for the operands as the
// runtime computed them.
func checkOracle(p *ir.Program, d progen.Data, got map[ir.TensorID]result) error {
	values := map[ir.TensorID]oracle.Tensor{}
	set := func(ref ir.TensorRef, b []byte) error {
		x, err := oracle.FromBytes(ref.DType, ref.Shape, b)
		values[ref.ID] = x
		return err
	}
	for i, ref := range p.Inputs {
		if err := set(ref, d.Inputs[i]); err != nil {
			return err
		}
	}
	for _, c := range p.Constants {
		if err := set(c.TensorRef, c.Data); err != nil {
			return err
		}
	}
	for i, ref := range p.Vars {
		if err := set(ref, d.Vars[i]); err != nil {
			return err
		}
	}
	for i := range p.Ops {
		op := &p.Ops[i]
		out := op.Outputs[0]
		if got[out.ID].err != nil {
			return fmt.Errorf("%%%d: %w", out.ID, got[out.ID].err)
		}
		if err := set(out, got[out.ID].data); err != nil {
			return fmt.Errorf("%%%d: %w", out.ID, err)
		}
		in := make([]oracle.Tensor, len(op.Inputs))
		for k, ref := range op.Inputs {
			in[k] = values[ref.ID]
		}
		if err := oracle.CheckOp(op, values[out.ID], in...); err != nil {
			return fmt.Errorf("%%%d: %w", out.ID, err)
		}
	}
	return nil
}

// mustHold fails the test with a program as small as can be.
func mustHold(t *testing.T, p *ir.Program, seed uint64, special float64) {
	t.Helper()
	check := func(p *ir.Program) error {
		d, _ := progen.RandomData(p, seed, progen.DataOptions{Special: special})
		return checkProgram(p, d, seed)
	}
	first := check(p)
	if first == nil {
		return
	}
	// Only failures of the same kind count, or shrinking drifts to another.
	kind := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, first.Error())
	kind = kind[:min(len(kind), 24)]
	small := progen.Shrink(p, func(q *ir.Program) bool {
		err := check(q)
		return err != nil && strings.HasPrefix(strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, err.Error()), kind)
	})
	require.NoError(t, check(small), "seed %d special %g (first: %v)\n%s", seed, special, first, small)
}

func TestFusionChangesNoValue(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 60
	}
	for seed := range n {
		special := 0.0
		o := progen.Options{Ops: 24, MaxElements: 600}
		if seed%3 == 2 {
			special, o.Special = 0.05, 0.05
		}
		if seed%5 == 4 {
			o.Empty = 0.02
		}
		mustHold(t, progen.Generate(seed, o), seed, special)
		if t.Failed() {
			return
		}
	}
}

// TestEffects is about programs most of whose operations are effects and what
// reads Vars.
func TestEffects(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 60
	}
	for seed := range n {
		o := progen.Options{Ops: 20, MaxElements: 200, Weights: map[string]int{"effect": 10, "view": 6, "binary": 5, "unary": 3, "reduce": 1, "index": 1}}
		mustHold(t, progen.Generate(1000+seed, o), seed, 0)
	}
}

// TestIndexErrorsAgree: an index out of range fails the same tensors fused and
// unfused, and no other.
func TestIndexErrorsAgree(t *testing.T) {
	n := uint64(200)
	if testing.Short() {
		n = 40
	}
	failed := 0
	for seed := range n {
		p := progen.Generate(2000+seed, progen.Options{Ops: 14, MaxElements: 200, Weights: map[string]int{"index": 4, "view": 3, "unary": 3, "binary": 3, "reduce": 1}})
		d, wrong := progen.RandomData(p, seed, progen.DataOptions{OutOfRange: true})
		if !wrong {
			continue
		}
		want, err := plainWay.play(p, d, seed)
		require.NoError(t, err)
		for _, w := range ways {
			got, err := w.play(p, d, seed)
			require.NoError(t, err, "%s seed %d\n%s", w.name, seed, p)
			for id, r := range got {
				require.NoError(t, sameResult(r, want[id]), "%s seed %d %%%d\n%s", w.name, seed, id, p)
				if r.err != nil {
					failed++
				}
			}
		}
	}
	require.Positive(t, failed)
}

// TestRegressions runs the programs that once failed.
func TestRegressions(t *testing.T) {
	files, err := filepath.Glob("testdata/regress/*.txt")
	require.NoError(t, err)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			p, err := ir.ParseProgram(string(text))
			require.NoError(t, err)
			for seed := range uint64(6) {
				d, _ := progen.RandomData(p, seed, progen.DataOptions{Special: float64(seed%2) * 0.1})
				require.NoError(t, checkProgram(p, d, seed), "seed %d", seed)
			}
		})
	}
}

func FuzzFusionChangesNoValue(f *testing.F) {
	for seed := range uint64(4) {
		rg := rand.New(rand.NewPCG(seed, 7))
		b := make([]byte, 400)
		for i := range b {
			b[i] = byte(rg.Uint32())
		}
		f.Add(seed, b)
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		mustHold(t, progen.FromBytes(data), seed, 0.02)
	})
}
