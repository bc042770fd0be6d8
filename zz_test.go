package sinter_test
import ("testing";"fmt";"github.com/sinter-ml/sinter")
func TestZZ(t *testing.T) {
	dev := open(t, sinter.WithTrace("/tmp/zz.trace"))
	for _, bits := range []int{8, 4} {
		s := sinter.QuantScheme{Bits: bits, Affine: true, Level: sinter.PerBlock, Axis: 0, Block: 8}
		w := sinter.From(dev, floats32(newData(35), 32*24), 32, 24).Quantize(s)
		for _, p := range []*tensor{w.Data, w.Scale, w.Zero} {
			sinter.ReadBytes(ctx, p)
		}
		x := sinter.From(dev, floats32(newData(36), 4*32), 4, 32)
		for range 4 {
		before := dev.Stats()
		read[float32](t,  w.Dequantize(sinter.F32).MulScalar(2).AddScalar(1))
		mid := dev.Stats()
		read[float32](t,  x.MatMul(w.Dequantize(sinter.F32)))
		fmt.Println(bits, mid.Sub(before).Device.Launches, dev.Stats().Sub(mid).Device.Launches)
		}
	}
}
