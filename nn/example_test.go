package nn_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
	"github.com/sinter-ml/sinter/safetensors"
)

// MLP is a perceptron with one hidden layer.
type MLP struct {
	Hidden, Output *nn.Linear
}

func (m *MLP) Forward(x *sinter.Tensor) *sinter.Tensor {
	return m.Output.Forward(m.Hidden.Forward(x).Relu())
}

func ExampleParams() {
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	m := &MLP{Hidden: nn.NewLinear(dev, 4, 8), Output: nn.NewLinear(dev, 8, 2)}
	for path, v := range nn.Params(m) {
		fmt.Println(path, v.DType(), v.Shape())
	}
	// Output:
	// hidden.weight f32 [4,8]
	// hidden.bias f32 [8]
	// output.weight f32 [8,2]
	// output.bias f32 [2]
}

func ExampleLoadInto() {
	ctx := context.Background()
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	var b bytes.Buffer
	if err := safetensors.Write(&b, map[string]safetensors.Tensor{
		"fc.weight": {DType: sinter.BF16, Shape: sinter.Shape{1, 2}, Data: []byte{0x80, 0x3f, 0, 0x40}}, // 1, 2
	}, nil); err != nil {
		panic(err)
	}
	f, err := safetensors.Parse(b.Bytes())
	if err != nil {
		panic(err)
	}

	layer := nn.NewLinear(dev, 2, 1, nn.WithDType(sinter.BF16), nn.WithInit(nn.ZeroInit))
	rename := nn.Rename(func(path string) string { return "fc." + path })
	err = nn.LoadInto(ctx, layer, f, rename, nn.TransposeLinear())
	fmt.Println(err)

	layer.Bias = nil
	if err := nn.LoadInto(ctx, layer, f, rename, nn.TransposeLinear()); err != nil {
		panic(err)
	}
	y, err := sinter.Item[sinter.BFloat16](ctx, layer.Forward(sinter.Ones(dev, sinter.BF16, 1, 2)))
	fmt.Println(y.Float32(), err)
	// Output:
	// nn: weights do not fit: missing bias
	// 3 <nil>
}

func ExampleSequential() {
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	m := nn.Sequential{nn.NewLinear(dev, 3, 2), nn.Relu{}, nn.NewLinear(dev, 2, 1)}
	fmt.Println(m.Forward(sinter.Ones(dev, sinter.F32, 5, 3)).Shape())
	fmt.Println(m.Forward(sinter.Ones(dev, sinter.F32, 5, 4)).Err() != nil)
	// Output:
	// [5,1]
	// true
}
