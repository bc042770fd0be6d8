package fusion

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestInLibrary(t *testing.T) {
	for _, c := range []struct {
		function, file string
		want           bool
	}{
		{module + ".(*Tensor).Add", "/src/sinter/gen_ops.go", true},
		{module + ".From[...]", "/src/sinter/host.go", true},
		{module + "/nn.(*Linear).Forward", "/src/sinter/nn/linear.go", true},
		{module + "/backend/fusion.(*Stream).Record", "/src/sinter/backend/fusion/stream.go", true},
		{"runtime.gopanic", "/go/src/runtime/panic.go", true},
		{module + ".TestX", "/src/sinter/x_test.go", false},
		{module + "_test.ExampleFrom", "/src/sinter/example_test.go", false},
		{module + "/examples/embed.main", "/src/sinter/examples/embed/main.go", false},
		{module + "/cmd/irdump.run", "/src/sinter/cmd/irdump/run.go", false},
		{"github.com/sinter-ml/sinterworks.Run", "/src/sinterworks/run.go", false},
		{"main.main.func1", "/home/user/main.go", false},
		{"example.com/app.(*Model).Forward", "/home/user/app/model.go", false},
		{"", "", false},
	} {
		require.Equal(t, c.want, inLibrary(c.function, c.file), c.function)
	}
}

func TestCallSite(t *testing.T) {
	at := func() uintptr { return callSite(0) }()
	require.Contains(t, ir.Position(at), "callsite_test.go:35")
	done := make(chan uintptr)
	go func() { done <- callSite(0) }()
	require.Contains(t, ir.Position(<-done), "callsite_test.go:38")
}
