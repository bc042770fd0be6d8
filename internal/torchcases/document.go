package torchcases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Count is what became of the cases of an operation.
type Count struct {
	Run, Excluded, Faulty int            // a faulty case is run too
	Reasons               map[string]int // why cases are excluded or faulty
}

// Counts returns what becomes of the cases: by family, then by operation.
func (p *Corpus) Counts() map[string]map[string]*Count {
	out := make(map[string]map[string]*Count)
	for _, c := range p.Cases {
		ops := out[c.Family]
		if ops == nil {
			ops = make(map[string]*Count)
			out[c.Family] = ops
		}
		n := ops[c.Op]
		if n == nil {
			n = &Count{Reasons: make(map[string]int)}
			ops[c.Op] = n
		}
		switch excluded, faulty := p.Excluded(c), Faulty(c); {
		case excluded != "":
			n.Excluded++
			n.Reasons[excluded]++
		case faulty != "":
			n.Faulty++
			n.Reasons["fails: "+faulty]++
			fallthrough
		default:
			n.Run++
		}
	}
	return out
}

const preamble = `# PyTorch's cases

The sample inputs of PyTorch's own operator tests, with what PyTorch ` + "2.15" + ` returned on the CPU, run against this library by
` + "`internal/torchcases`" + `: each call fused, unfused, and fused with operations before it, some also captured and replayed, with the strides PyTorch saw. Floats are compared with the
same call in float64, within the accuracy documented for the operation; everything else must be equal. This page is written by
` + "`go test ./internal/torchcases -update`" + ` and a test keeps it true.

`

// Markdown is the content of docs/TORCH.md.
func (p *Corpus) Markdown() string {
	var b strings.Builder
	b.WriteString(preamble)
	counts := p.Counts()
	b.WriteString("| family | cases | pass | excluded |\n|---|---:|---:|---:|\n")
	var all Count
	for _, family := range slices.Sorted(maps.Keys(counts)) {
		var sum Count
		for _, n := range counts[family] {
			sum.Run += n.Run
			sum.Excluded += n.Excluded
			sum.Faulty += n.Faulty
		}
		fmt.Fprintf(&b, "| %s | %s |\n", family, sum.columns())
		all.Run += sum.Run
		all.Excluded += sum.Excluded
		all.Faulty += sum.Faulty
	}
	fmt.Fprintf(&b, "| **all** | %s |\n", all.columns())
	for _, family := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "\n## %s%s\n\n| operation | cases | pass | excluded | why |\n|---|---:|---:|---:|---|\n", strings.ToUpper(family[:1]), family[1:])
		for _, op := range slices.Sorted(maps.Keys(counts[family])) {
			n := counts[family][op]
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", op, n.columns(), n.why())
		}
	}
	return b.String()
}

func (n *Count) columns() string {
	return fmt.Sprintf("%d | %d | %d", n.Run+n.Excluded, n.Run-n.Faulty, n.Excluded)
}

// why lists the reasons, the most frequent first, with numbers if there are
// several.
func (n *Count) why() string {
	reasons := slices.SortedFunc(maps.Keys(n.Reasons), func(a, b string) int {
		return cmp.Or(n.Reasons[b]-n.Reasons[a], cmp.Compare(a, b))
	})
	for i, r := range reasons {
		if len(reasons) > 1 {
			reasons[i] = fmt.Sprintf("%s (%d)", r, n.Reasons[r])
		}
	}
	return strings.ReplaceAll(strings.Join(reasons, "<br>"), "|", `\|`)
}
