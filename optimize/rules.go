package optimize

// Rule names why the planner, not a fuser, kept operations apart.
type Rule string

// The planner's rules; see Rules for what each means.
const (
	RuleCycle      Rule = "cycle"
	RuleOldVersion Rule = "old-version"
	RuleMerge      Rule = "merge"
	RuleView       Rule = "view"
	RuleFar        Rule = "far"
	RuleTooLong    Rule = "too-long"
	RuleNoGain     Rule = "no-gain"
	RuleNotReady   Rule = "not-ready"

	RuleDistance    Rule = "distance"
	RuleKeepsMemory Rule = "keeps-memory"
)

// RuleInfo explains a rule.
type RuleInfo struct {
	Rule   Rule
	Profit bool // a matter of cost; else of correctness
	Doc    string
}

// Rules is every rule the planner refuses by, or takes blocks apart by; the
// fusers' are in fuser.Rules.
var Rules = []RuleInfo{
	{RuleCycle, false, "a path would leave the block and re-enter it"},
	{RuleOldVersion, false, "one reads a version of a Var that the other writes over"},
	{RuleMerge, false, "no fuser accepts the operations of both blocks"},
	{RuleView, false, "a view between the block and the operation was refused"},
	{RuleDistance, false, "the blocks are at other distances from the end of the segment: one may have to wait for the other, or for what waits for it"},
	{RuleKeepsMemory, true, "run later, with the others, the block would keep temporaries in memory of more bytes than a launch is worth"},
	{RuleFar, true, "more blocks lie between than the search for paths looks at"},
	{RuleTooLong, true, "the block would be longer than the device's profile allows"},
	{RuleNoGain, true, "fused it is not faster"},
	{RuleNotReady, true, "no fuser that holds the operations could finish them"},
}
