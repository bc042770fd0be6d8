package optimize

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
)

// A name stands for one rule, of a fuser or of the planner.
func TestRulesTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range fuser.Rules {
		seen[string(r.Rule)] = true
	}
	for _, r := range Rules {
		require.False(t, seen[string(r.Rule)], "%s", r.Rule)
		seen[string(r.Rule)] = true
		require.NotEmpty(t, r.Doc)
	}
	// Each rule that plans log is in the table; TestWhyNamesLegality and others
	// meet them all.
	for i := range 3 {
		p := New(fuser.Default(), cpuProfile, Options{Window: 1 + i})
		plan, err := p.Plan(transformer(2))
		require.NoError(t, err)
		for _, d := range plan.Log.Decisions {
			if d.Rule != "" && d.Event != EventRewrite {
				require.True(t, seen[d.Rule], "%s", d.Rule)
			}
		}
	}
}
