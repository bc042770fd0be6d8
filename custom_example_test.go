package sinter_test

import (
	"context"
	"fmt"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func init() {
	// running.mean smooths the rows of a matrix: y[i] = rate·x[i] + (1-rate)·y[i-1].
	err := sinter.RegisterCustom(sinter.CustomOp{
		Name: "running.mean",
		Infer: func(o *ir.Operation) (sinter.Shape, sinter.DType, error) {
			if len(o.Inputs) != 1 || len(o.Inputs[0].Shape) != 2 || len(o.Scalars) != 1 {
				return nil, 0, &sinter.ShapeError{Msg: "running.mean takes one matrix and a rate"}
			}
			if o.Inputs[0].DType != sinter.F32 {
				return nil, 0, &sinter.DTypeError{Msg: "running.mean takes f32"}
			}
			return o.Inputs[0].Shape, sinter.F32, nil
		},
		Run: map[string]sinter.HostFunc{"cpu": func(c *sinter.HostCall) error {
			runningMean(c, func(x float32) float32 { return x })
			return nil
		}},
	})
	if err != nil {
		panic(err)
	}
}

func runningMean(c *sinter.HostCall, after func(float32) float32) {
	x, y := sinter.HostElems[float32](&c.Inputs[0]), sinter.HostElems[float32](&c.Outputs[0])
	rate, cols := c.Scalars[0].Float32(), c.Outputs[0].Shape[1]
	for i := range y {
		mean := float32(0)
		if i%cols > 0 {
			mean = y[i-1]
		}
		y[i] = float32(rate*x[i]) + float32((1-rate)*mean)
	}
	for i := range y {
		y[i] = after(y[i])
	}
}

// An operation of one's own is recorded between others.
func ExampleCustom() {
	ctx := context.Background()
	d, err := sinter.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	x := sinter.From(d, []float32{4, 0, 2, 8, 8, 0}, 2, 3)
	y := sinter.Custom("running.mean", sinter.CustomAttrs{Scalars: []ir.Scalar{ir.F32Scalar(0.5)}}, x.MulScalar(2)).AddScalar(1)
	got, err := sinter.Read[float32](ctx, y)
	fmt.Println(got, err)
	// Output: [5 3 4 9 13 7] <nil>
}

// smoothRelu is a fuser that runs running.mean and the Relu behind it as one
// call of a host function.
type smoothRelu struct {
	g   *fuser.Graph
	p   *fuser.Profile
	ops []int
}

// RuleSmooth names why the fuser refuses an operation.
const RuleSmooth fuser.Rule = "smooth-relu"

func (f *smoothRelu) Name() string         { return "smooth-relu" }
func (f *smoothRelu) Status() fuser.Status { return fuser.Open }
func (f *smoothRelu) Len() int             { return len(f.ops) }
func (f *smoothRelu) Reset()               { f.ops = nil }
func (f *smoothRelu) Clone() fuser.Fuser   { c := *f; c.ops = append([]int(nil), f.ops...); return &c }

func (f *smoothRelu) Fuse(op int) fuser.Verdict {
	o := &f.g.Ops[op]
	switch {
	case len(f.ops) == 0 && o.Kind == ir.Custom && o.Attrs.Name == "running.mean":
	case len(f.ops) == 1 && o.Kind == ir.Relu && o.Inputs[0].ID == f.g.Ops[f.ops[0]].Outputs[0].ID:
	default:
		return fuser.Verdict{Rule: RuleSmooth, Detail: o.Kind.String()}
	}
	f.ops = append(f.ops, op)
	return fuser.Verdict{Accepted: true}
}

func (f *smoothRelu) Properties() fuser.Properties {
	if len(f.ops) < 2 {
		return fuser.Properties{}
	}
	return fuser.Properties{Score: f.p.LaunchCost, Ready: true} // a launch saved
}

func (f *smoothRelu) Finish() (*fuser.Optimization, error) {
	call := fuser.CustomCall(f.g, f.ops[0])
	call.Name = "running.mean.relu"
	call.Outputs = []ir.TensorID{f.g.Ops[f.ops[1]].Outputs[0].ID}
	o, err := fuser.HostBlock(f.g, f.Name(), f.ops, call)
	if err == nil {
		o.Score = f.Properties().Score
	}
	return o, err
}
