package progen

import "github.com/sinter-ml/sinter/ir"

// Varied returns the program of a seed with options that vary from seed to
// seed, for campaigns, and the rate of special values its data are to have.
// Most programs are small, so that many differ; some are large.
func Varied(seed uint64) (p *ir.Program, special float64) {
	o := Options{Ops: 4 + int(seed%13), MaxElements: 200}
	switch {
	case seed%31 == 0:
		o.Ops, o.MaxElements = 40, 1500
	case seed%7 == 0:
		o.Ops = 24
	}
	if seed%3 == 2 {
		o.Special = 0.05
	}
	if seed%5 == 4 {
		o.Empty = 0.02
	}
	return Generate(seed, o), o.Special
}
