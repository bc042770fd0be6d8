package optimize

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// stateFormat counts the changes of the written form of states.
const stateFormat = 1

// Version names everything a plan follows from beside its segment. Plans are
// shared only between equal versions.
type Version [sha256.Size]byte

func (v Version) String() string { return hex.EncodeToString(v[:8]) }

// Version returns what the planner's plans follow from: the written form, the
// tables of kinds, scalar functions, instructions, passes and rules, the
// fusers, the device's profile, the options, and the program itself, whose
// code the tables cannot show. It fails when the program cannot be told apart
// from others.
func (p *Planner) Version() (Version, error) {
	program, err := programIdentity()
	if err != nil {
		return Version{}, err
	}
	return p.version(program), nil
}

func (p *Planner) version(program []byte) Version {
	h := sha256.New()
	fmt.Fprintf(h, "format %d\nprogram %x\n", stateFormat, program)
	for _, k := range ir.Kinds() {
		info := ir.Lookup(k)
		fmt.Fprintf(h, "kind %d %s %v %d\n", k, info.Name, info.Class, info.Attrs)
	}
	for _, s := range ir.ScalarOps() {
		fmt.Fprintf(h, "function %d %s\n", s, s)
	}
	for _, d := range ir.DTypes() {
		fmt.Fprintf(h, "dtype %d %v\n", d, d)
	}
	for _, name := range codegen.Names() {
		fmt.Fprintf(h, "code %s\n", name)
	}
	for _, pass := range Passes {
		fmt.Fprintf(h, "pass %s\n", pass.Name)
	}
	for _, r := range fuser.Rules {
		fmt.Fprintf(h, "rule %s %v\n", r.Rule, r.Profit)
	}
	for _, r := range Rules {
		fmt.Fprintf(h, "rule %s %v\n", r.Rule, r.Profit)
	}
	for _, f := range p.factories {
		fmt.Fprintf(h, "fuser %s %q\n", f.Name, f.Doc)
	}
	for _, pass := range p.opts.Extra {
		fmt.Fprintf(h, "pass %s %q\n", pass.Name, pass.Doc)
	}
	opts := p.opts
	opts.Extra = nil
	opts.Disable = slices.Sorted(slices.Values(opts.Disable))
	opts.Check, opts.LogLimit = false, 0 // change no plan
	fmt.Fprintf(h, "options %+v\nprofile %+v\n", opts, p.profile)
	return Version(h.Sum(nil))
}
