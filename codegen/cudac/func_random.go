package cudac

import "github.com/sinter-ml/sinter/ir"

// philoxExpr returns the 32-bit random word, as I64, of a position in the stream
// of a seed and an offset.
func philoxExpr(seed, offset, position string) (string, []string) {
	word, needs := call("philox_word", seed+", "+offset+", "+position)
	return "(long long)" + word, needs
}

// normalExpr returns the standard normal number, of type F32 or F64, of a position
// in the stream of a seed and an offset.
func normalExpr(t ir.DType, seed, offset, position string) (string, []string) {
	return call("normal_"+t.String(), seed+", "+offset+", "+position)
}
