package sinter_test

import (
	"context"
	"fmt"

	"github.com/sinter-ml/sinter"
)

// Batches go through the same host memory again and again.
func ExampleStaging() {
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	ctx := context.Background()
	batch, err := sinter.NewStaging[float32](dev, 4)
	if err != nil {
		panic(err)
	}
	for i := range 2 {
		err := batch.Access(ctx, func(data []float32) error {
			for k := range data {
				data[k] = float32(4*i + k)
			}
			return nil
		})
		if err != nil {
			panic(err)
		}
		sum, err := sinter.Item[float32](ctx, batch.Upload(dev, 2, 2).Sum())
		if err != nil {
			panic(err)
		}
		fmt.Println(sum)
	}
	// Output:
	// 6
	// 22
}

// Weights stay: they take exactly their bytes.
func ExampleDevice_PersistentAllocations() {
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	var w *sinter.Var
	err = dev.PersistentAllocations(func() error {
		w = sinter.NewVar(sinter.Full(dev, sinter.F32, 0.5, 1000, 77))
		return nil
	})
	if err != nil {
		panic(err)
	}
	report, err := dev.MemoryReport(context.Background())
	if err != nil {
		panic(err)
	}
	p := report.Of(sinter.PersistentPool)
	fmt.Println(w.Shape(), p.InUse, p.Padding, p.Reserved)
	// Output:
	// [1000,77] 308000 0 308000
}
