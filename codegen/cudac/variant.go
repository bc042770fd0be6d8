package cudac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
)

// Variant is one source of a kernel: what is fixed in it beside the kernel's
// structure. Variants of one kernel give the same bits as each other.
type Variant struct {
	// Kind is the loop structure, a name from the template: "map", "row-warp", …
	Kind string
	// Wide says that places and counts are computed in 64 bits, because a launch
	// is not known to fit 32.
	Wide bool
	// Vector is how many neighbouring elements a thread takes at once, 1 if it
	// does not.
	Vector int
	// Alias says that a buffer which is written may be one that is read.
	Alias bool
	// Tile holds the sizes of the template's tiles, as its kind orders them.
	Tile []int

	loops   []form  // of the template's loops
	windows [][]int // by access: the axes with bounds
	parts   []*Variant
}

// Key returns the identity of a variant: variants of a kernel with equal keys
// have the same source on a target.
func (v *Variant) Key() string {
	var b strings.Builder
	b.WriteString(v.Kind)
	if v.Wide {
		b.WriteString(" wide")
	}
	if v.Alias {
		b.WriteString(" alias")
	}
	if v.Vector > 1 {
		fmt.Fprintf(&b, " vector=%d", v.Vector)
	}
	if len(v.Tile) > 0 {
		fmt.Fprintf(&b, " tile=%v", v.Tile)
	}
	for _, f := range v.loops {
		b.WriteString(" " + f.String())
	}
	if slices.ContainsFunc(v.windows, func(w []int) bool { return len(w) > 0 }) {
		fmt.Fprintf(&b, " windows=%v", v.windows)
	}
	for _, p := range v.parts {
		b.WriteString(" [" + p.Key() + "]")
	}
	return b.String()
}

// String is Key.
func (v *Variant) String() string { return v.Key() }

// VariantError says that a launch does not fit a variant.
type VariantError struct {
	Kernel  string // the kernel's name
	Variant string
	Rule    string
}

func (e *VariantError) Error() string {
	return fmt.Sprintf("launch of %q: variant %s: %s", e.Kernel, e.Variant, e.Rule)
}

// template is the loop structure of kernels in CUDA C++.
type template interface {
	// loops lays the axes of a launch.
	loops(b *binding)
	// variants returns what a launch may take, best first, the last always
	// valid. Fields every variant has (Wide, Alias, forms, windows) are filled
	// in afterwards.
	variants(b *binding, t Target) []*Variant
	// check returns the rule a launch breaks that has the forms of the variant,
	// "" if it fits.
	check(b *binding, v *Variant) string
	// write writes the entries of the source.
	write(g *generator)
}

// templates holds each template's structure, written in its own file.
var templates = map[codegen.Template]template{
	codegen.Map:         mapTemplate{},
	codegen.Rows:        rowsTemplate{},
	codegen.Contraction: contractTemplate{},
	codegen.Scan:        scanTemplate{},
	codegen.Sort:        sortTemplate{},
	codegen.Parts:       partsTemplate{},
	codegen.Scatter:     scatterTemplate{},
	codegen.Attention:   attentionTemplate{},
}

// binding is a launch laid out for a kernel's template.
type binding struct {
	k     *codegen.Kernel
	l     *codegen.Launch
	slots *slots
	loops []*loop
	parts []*binding
}

func bind(k *codegen.Kernel, l *codegen.Launch) *binding {
	b := &binding{k: k, l: l, slots: slotsOf(k, l)}
	for i := range k.Parts {
		b.parts = append(b.parts, bind(k.Parts[i].Kernel, &l.Parts[i]))
	}
	templates[k.Template].loops(b)
	return b
}

// lay adds the loop over axes.
func (b *binding) lay(name string, axes []int) {
	b.loops = append(b.loops, b.slots.lay(name, b.l.Dims, axes))
}

// Supported reports whether the package writes kernels of a template.
func Supported(t codegen.Template) bool { return templates[t] != nil }

// Candidates returns the variants a launch may take on a target, best first; the
// last is always valid. alias says that an output takes the storage of an input.
// The kernel must have been verified and the launch checked.
func Candidates(k *codegen.Kernel, l *codegen.Launch, t Target, alias bool) []*Variant {
	list := candidates(bind(k, l), t)
	for _, v := range list {
		v.fix(!fits32(k, l), alias)
	}
	return list
}

// candidates returns the variants of a launch with the forms of its loops.
func candidates(b *binding, t Target) []*Variant {
	list := templates[b.k.Template].variants(b, t)
	for _, v := range list {
		v.windows = windowAxes(b.l)
		for _, g := range b.loops {
			v.loops = append(v.loops, g.form())
		}
	}
	return list
}

// fix sets what holds for a source as a whole.
func (v *Variant) fix(wide, alias bool) {
	v.Wide, v.Alias = wide, alias
	for _, p := range v.parts {
		p.fix(wide, alias)
	}
}

// Check returns a *VariantError for a launch that a variant of its kernel does
// not fit: one whose axes join otherwise, that is too large for 32 bits, or that
// breaks a rule of the variant's kind.
func (v *Variant) Check(k *codegen.Kernel, l *codegen.Launch) error {
	return v.check(bind(k, l))
}

func (v *Variant) check(b *binding) error {
	fail := func(rule string, args ...any) error {
		return &VariantError{Kernel: b.k.Name, Variant: v.Key(), Rule: fmt.Sprintf(rule, args...)}
	}
	if len(b.loops) != len(v.loops) {
		return fail("%d loops, not %d", len(b.loops), len(v.loops))
	}
	for i, g := range b.loops {
		if got, want := g.form().String(), v.loops[i].String(); got != want {
			return fail("loop %s has the form %s", g.name, got)
		}
	}
	if !equalWindows(windowAxes(b.l), v.windows) {
		return fail("windows on axes %v", windowAxes(b.l))
	}
	if !v.Wide && !fits32(b.k, b.l) {
		return fail("places do not fit 32 bits")
	}
	if rule := templates[b.k.Template].check(b, v); rule != "" {
		return fail("%s", rule)
	}
	return nil
}
