package oracle

import (
	"fmt"
	"sync"

	"github.com/sinter-ml/sinter/ir"
)

// customs are the evaluators of custom operations by name.
var customs sync.Map // string → func(*ir.Operation, []Tensor) (Tensor, error)

// RegisterCustom gives the oracle an evaluator of the custom operations of a
// name; results are compared exactly. A second one for a name replaces the
// first.
func RegisterCustom(name string, eval func(op *ir.Operation, in []Tensor) (Tensor, error)) {
	customs.Store(name, eval)
}

func evalCustom(c *call) (Tensor, error) {
	eval, ok := customs.Load(c.op.Attrs.Name)
	if !ok {
		return Tensor{}, fmt.Errorf("oracle: no evaluator for custom operation %q", c.op.Attrs.Name)
	}
	return eval.(func(*ir.Operation, []Tensor) (Tensor, error))(c.op, c.in)
}
