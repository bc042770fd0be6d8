package optimize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/fuser"
)

// Switch is something a planner can do without, by its name in
// Options.Disable: a pass, a fuser, or a rule that is a matter of cost alone.
// However they stand, a program gives the same bits.
type Switch struct {
	Name string
	Kind string // "pass", "fuser" or "rule"
	Doc  string
}

// Switches lists everything that Options.Disable can name for a planner with
// the given fusers. A disabled rule refuses nothing: what it stood for is fused
// if it is legal.
func Switches(factories []fuser.Factory) []Switch {
	var out []Switch
	for _, p := range Passes {
		out = append(out, Switch{p.Name, "pass", p.Doc})
	}
	for _, f := range factories {
		out = append(out, Switch{f.Name, "fuser", f.Doc})
	}
	out = append(out, Switch{fuser.HorizontalName, "fuser", fuser.HorizontalDoc})
	for _, r := range fuser.Rules {
		if r.Profit {
			out = append(out, Switch{string(r.Rule), "rule", r.Doc})
		}
	}
	for _, r := range Rules {
		if r.Profit {
			out = append(out, Switch{string(r.Rule), "rule", r.Doc})
		}
	}
	return out
}

// SwitchError says that Options.Disable names something there is not.
type SwitchError struct {
	Unknown []string
	Known   []string
}

func (e *SwitchError) Error() string {
	return fmt.Sprintf("nothing of the planner is called %q; it has %s", e.Unknown, strings.Join(e.Known, ", "))
}

// CheckSwitches returns a *SwitchError for names that are not among the
// switches of a planner with the given fusers.
func CheckSwitches(names []string, factories []fuser.Factory) error {
	e := &SwitchError{}
	for _, s := range Switches(factories) {
		e.Known = append(e.Known, s.Name)
	}
	for _, name := range names {
		if !slices.Contains(e.Known, name) {
			e.Unknown = append(e.Unknown, name)
		}
	}
	if len(e.Unknown) == 0 {
		return nil
	}
	return e
}

// bounds are the profit rules that Force keeps: they bound what exploring
// costs, or keep blocks from growing that nothing can finish.
var bounds = []string{string(RuleFar), string(RuleTooLong), string(RuleNotReady), string(fuser.RuleMaxOps)}

// switchedOff returns the names of what a planner does without.
func switchedOff(o Options) map[string]bool {
	off := make(map[string]bool)
	for _, name := range o.Disable {
		off[name] = true
	}
	for _, s := range Switches(nil) {
		if o.Force && s.Kind == "rule" && !slices.Contains(bounds, s.Name) {
			off[s.Name] = true
		}
	}
	return off
}
