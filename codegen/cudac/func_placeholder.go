package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

type deviceFunc struct {
	name  string
	needs []string
	text  string
}

func resolve(names []string) []deviceFunc { return nil }

func applyExpr(fn ir.ScalarOp, t ir.DType, args []string) (string, []string) {
	switch fn {
	case ir.SAdd:
		return fmt.Sprintf("(%s)(%s + %s)", ctype(t), args[0], args[1]), nil
	case ir.SMul:
		return fmt.Sprintf("(%s)(%s * %s)", ctype(t), args[0], args[1]), nil
	}
	return "0", nil
}
func castExpr(from, to ir.DType, overflow bool, arg string) (string, []string) {
	return "(" + ctype(to.Compute()) + ")(" + arg + ")", nil
}
func bitcastExpr(from, to ir.DType, arg string) (string, []string) { return arg, nil }
func loadExpr(dt ir.DType, raw string) (string, []string)          { return raw, nil }
func storeExpr(dt ir.DType, value string) (string, []string)       { return value, nil }
func philoxExpr(seed, offset, position string) (string, []string)  { return position, nil }
func normalExpr(t ir.DType, seed, offset, position string) (string, []string) {
	return position, nil
}
