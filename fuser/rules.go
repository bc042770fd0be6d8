package fuser

// The rules that refuse an operation or a block. Legality rules keep a block
// correct; profit rules keep it from costing more than it saves and can be
// switched off (Graph.Off), so that a test can force a fusion.
const (
	RuleKind             Rule = "kind"
	RuleShape            Rule = "shape"
	RuleAxes             Rule = "axes"
	RuleLevel            Rule = "level"
	RuleAnchor           Rule = "second-anchor"
	RuleOperandComputed  Rule = "operand-computed"
	RuleIndexedRead      Rule = "indexed-read"
	RuleWindowBehindView Rule = "window-behind-view"
	RuleRandomPosition   Rule = "random-position"
	RuleStoredBehindView Rule = "stored-behind-view"
	RuleEffectRead       Rule = "effect-read"
	RuleAliasesInPlace   Rule = "aliases-in-place"
	RuleReshapeStrided   Rule = "reshape-strided"
	RuleMalformed        Rule = "malformed"
	RuleMaxBuffers       Rule = "max-buffers"
	RuleClosed           Rule = "closed"
	RuleNotAMap          Rule = "not-a-map"
	RuleMayFail          Rule = "may-fail"
	RuleDraws            Rule = "draws"
	RuleMaxArguments     Rule = "max-arguments"

	RuleOperandNeeded Rule = "operand-needed"

	RuleRecompute Rule = "recompute"
	RulePrologue  Rule = "prologue"
	RuleRowOnChip Rule = "row-on-chip"
	RuleMaxOps    Rule = "max-ops"
)

// RuleInfo explains a rule.
type RuleInfo struct {
	Rule   Rule
	Profit bool // a heuristic, which Options may disable; else a matter of correctness
	Doc    string
}

// Rules is every rule a fuser refuses by.
var Rules = []RuleInfo{
	{RuleKind, false, "the fuser has no place for this kind of operation"},
	{RuleShape, false, "the output's shape does not fit the iteration space of the block"},
	{RuleAxes, false, "a reduction over other axes than the block's"},
	{RuleLevel, false, "a value of one row is used in a way that needs the elements of another row"},
	{RuleAnchor, false, "the block already has the one contraction its loops are built around"},
	{RuleOperandComputed, false, "the template reads this operand from memory, and the block computes it"},
	{RuleOperandNeeded, false, "an operand computed as a contraction reads it is kept nowhere, and is stored or used elsewhere, too"},
	{RuleIndexedRead, false, "an element picked by an index or a window is read from memory, and the block computes the tensor"},
	{RuleWindowBehindView, false, "a coordinate of the operation is not a coordinate of the block's space, because of a view between them"},
	{RuleRandomPosition, false, "random numbers belong to row-major positions, and the block walks its space in another order"},
	{RuleStoredBehindView, false, "a value that must be stored is computed once for each of its repetitions"},
	{RuleEffectRead, false, "the new version of a partly overwritten Var is complete only after the kernel"},
	{RuleAliasesInPlace, false, "the block reads memory it overwrites, in another order than it writes"},
	{RuleReshapeStrided, false, "a reshape of this layout needs a copy"},
	{RuleMalformed, false, "the segment's tables do not describe the operation"},
	{RuleMaxBuffers, false, "more buffers than a kernel of the device can have"},
	{RuleClosed, false, "the fuser takes no more operations"},
	{RuleNotAMap, false, "only loops over independent elements share a launch"},
	{RuleMayFail, false, "an index out of range would fail the blocks that share the launch"},
	{RuleDraws, false, "the positions of random numbers belong to a launch of their own"},
	{RuleMaxArguments, false, "more buffers than one launch of the device can have"},
	{RuleRecompute, true, "a value would be computed again for another place than its own"},
	{RulePrologue, true, "computing an operand of a contraction as it is read, anew for each part of the result, costs more than it saves"},
	{RuleRowOnChip, true, "a row of the operands is larger than what stays on chip between two passes"},
	{RuleMaxOps, true, "the block is as long as the device's profile allows"},
}

// Refusal is the error form of a refusing verdict.
type Refusal struct {
	Rule   Rule
	Detail string
}

func (e *Refusal) Error() string { return string(e.Rule) + ": " + e.Detail }
