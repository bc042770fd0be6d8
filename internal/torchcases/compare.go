package torchcases

import (
	"fmt"
	"math"
	"slices"
)

// tolerance says how far a result may be from the true value. The zero
// tolerance is that of an operation that rounds once: PyTorch's own output bit
// for bit, all NaNs counting as one value.
type tolerance struct {
	// ulps is the distance allowed in ulps of the dtype computed in: f32 for
	// the half types, whose result is then rounded once more.
	ulps float64
	// steps is how often an intermediate result is rounded to the dtype
	// itself, as magnitude says, each time by half an ulp.
	steps float64
	// abs is what may be off in any case where f32 is computed in, and in
	// proportion in f64.
	abs float64
	// magnitude bounds the intermediate values; nil: what can be lost is
	// relative to the result alone.
	magnitude func(c *Case) float64
	// anyZero: the sign of a zero is not promised.
	anyZero bool
}

// exact reports whether results must have PyTorch's bits.
func (t tolerance) exact() bool { return t.ulps == 0 && t.steps == 0 }

// compare returns how got differs from output i of a case.
func (p *Corpus) compare(c *Case, i int, got Host, tol tolerance) error {
	out := c.Out(i)
	if got.DType != out.DType || !slices.Equal(got.Shape, out.Shape) {
		return fmt.Errorf("output %d is %s%v, want %s%v", i, got.DType, got.Shape, out.DType, out.Shape)
	}
	skip, err := p.skipped(c, i)
	if err != nil {
		return err
	}
	want := judge{out: out, format: format(out.DType), tol: tol, theirs: c.Err(i), inaccurate: p.inaccurate(c)}
	want.ref, want.hasRef = c.Ref(i)
	if tol.magnitude != nil {
		want.magnitude = tol.magnitude(c)
	}
	for k := range out.Len() {
		if !skip(k) {
			if err := want.element(got, k); err != nil {
				return fmt.Errorf("output %d, element %d of %v: %w", i, k, out.Shape, err)
			}
		}
	}
	return nil
}

// judge compares elements with those of one output.
type judge struct {
	out, ref   Host
	hasRef     bool
	format     floatFormat
	tol        tolerance
	magnitude  float64
	theirs     float64 // PyTorch's error in ulps
	inaccurate bool    // PyTorch's output is known to be far off
}

func (j *judge) element(got Host, k int) error {
	if j.format == (floatFormat{}) {
		if g, w := got.Int(k), j.out.Int(k); g != w {
			return fmt.Errorf("got %d, want %d", g, w)
		}
		return nil
	}
	g, w := got.At(k), j.out.At(k)
	if same(g, w) || g == 0 && w == 0 && j.tol.anyZero {
		return nil
	}
	if j.tol.exact() && !j.hasRef {
		return fmt.Errorf("got %v, want %v", g, w)
	}
	if !j.hasRef {
		if j.near(g, w, j.allowed(w)+max(j.theirs, 0.5)*j.format.ulp(finite(w)), w) {
			return nil
		}
		return fmt.Errorf("got %v, want %v: %.3g ulps", g, w, math.Abs(g-w)/j.format.ulp(finite(w)))
	}
	r := j.ref.At(k)
	if j.near(g, r, j.allowed(r), w) || j.inaccurate && j.near(g, w, j.allowed(w), w) {
		return nil
	}
	return fmt.Errorf("got %v, want %v (PyTorch has %v): %.3g ulps", g, r, w, math.Abs(g-r)/j.format.ulp(finite(r)))
}

// allowed returns how far from x a result may be.
func (j *judge) allowed(x float64) float64 {
	unit := j.format.ulp(finite(x))
	if j.tol.exact() {
		return 0.5 * unit
	}
	compute := j.format
	abs := j.tol.abs
	if j.format == format("f64") {
		abs *= j.format.epsilon() / format("f32").epsilon()
	}
	if j.format.fraction < format("f32").fraction { // half types
		compute = format("f32")
		abs += 0.5 * unit
	}
	// An ulp is relative to the greater of the result and what it was made of.
	size := max(math.Abs(finite(x)), j.magnitude)
	return abs + j.tol.ulps*compute.ulp(size) + 0.5*j.tol.steps*j.format.ulp(size)
}

// near reports whether got is want, a real number, within a distance. sign has
// the sign a zero must have.
func (j *judge) near(got, want, allowed, sign float64) bool {
	switch limit := j.format.overflow(); {
	case math.IsNaN(got) || math.IsNaN(want):
		return math.IsNaN(got) && math.IsNaN(want)
	case math.IsInf(want, 0):
		return got == want
	case math.IsInf(got, 0):
		return math.Abs(want)+allowed >= limit && math.Signbit(got) == math.Signbit(want)
	case got == 0 && want == 0 && !j.tol.anyZero:
		return math.Signbit(got) == math.Signbit(sign)
	default:
		return math.Abs(got-want) <= allowed
	}
}

// same reports whether two numbers have the same bits or are both NaN.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// finite returns x, 0 if it is not finite.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
