package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// No access to shared memory waits for another's bank, neither in the main loops of
// products nor anywhere else.
func TestNoBankConflicts(t *testing.T) {
	for i := range figures {
		f := &figures[i]
		if !f.clean {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			for _, c := range f.executed(t) {
				for _, call := range c.run(t).Calls {
					assert.Zero(t, extraOf(call.Counts), "%s for %s\n%s", call.Call.Entry, c.arch(), conflicts(c.text, call.Counts))
				}
			}
		})
	}
}

// conflicts lists the lines of PTX with bank conflicts.
func conflicts(text string, n *exec.Counts) string {
	lines := strings.Split(text, "\n")
	var out strings.Builder
	for _, l := range n.Lines {
		if l.Extra > 0 {
			fmt.Fprintf(&out, "%d: %s: %d wavefronts, %d of them for conflicts\n", l.Line, strings.TrimSpace(lines[l.Line-1]), l.Wavefronts, l.Extra)
		}
	}
	return out.String()
}
