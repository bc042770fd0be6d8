package cudac

import "github.com/sinter-ml/sinter/codegen"

// TiledContractions returns every tile a contraction may take, its operands read in
// the best way and, once more, element by element.
func TiledContractions(k *codegen.Kernel, l *codegen.Launch, t Target) []*Variant {
	b := bind(k, l)
	_, sides := sidesOf(k)
	c := ClassOf(k, b.loops[loopK].n, t)
	fast := [2]loadMode{sides[0].best(b, c), sides[1].best(b, c)}
	all := tiledContractions(b, c, t, shapeKind(c), fast)
	if fast != [2]loadMode{} {
		all = append(all, tiledContractions(b, c, t, shapeKind(c), [2]loadMode{})...)
	}
	var out []*Variant
	for _, x := range all {
		x.windows = windowAxes(l)
		for _, g := range b.loops {
			x.loops = append(x.loops, g.form())
		}
		x.fix(!fits32(k, l), false)
		out = append(out, x.Variant)
	}
	return out
}
