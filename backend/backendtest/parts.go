package backendtest

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// partsExample increments one vector twice, by different numbers, to vectors of
// different lengths, in one launch.
func partsExample() example {
	one := incrementKernel(ir.F32)
	by := func(n int, x float32) codegen.Launch { return *incrementLaunch(n, uint64(math.Float32bits(x))) }
	return example{
		name: "parts",
		kernel: &codegen.Kernel{
			Name: "parts", Template: codegen.Parts,
			Buffers: []codegen.Buffer{{DType: ir.F32, Mode: codegen.In}, {DType: ir.F32, Mode: codegen.Out}, {DType: ir.F32, Mode: codegen.Out}},
			Parts:   []codegen.Part{{Kernel: one, Buffers: []int{0, 1}}, {Kernel: one.Clone(), Buffers: []int{0, 2}}},
		},
		launch: &codegen.Launch{Parts: []codegen.Launch{by(3, 0.5), by(2, -1)}},
		before: [][]byte{f32s(1, -2, 1e30), f32s(7, 7, 7), f32s(7, 7, 7)},
		after:  map[int][]byte{0: f32s(1, -2, 1e30), 1: f32s(1.5, -1.5, 1e30), 2: f32s(0, -3, 7)},
	}
}
