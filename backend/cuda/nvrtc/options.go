package nvrtc

import (
	"slices"
	"strconv"
	"strings"
)

// arch is an architecture: sm_90a is {90, "a", false}, compute_80 is {80, "", true}.
type arch struct {
	capability int
	suffix     string // "a": with features of this one alone, "f": of its family
	virtual    bool   // compiled to PTX alone
}

func (a arch) String() string {
	prefix := "sm_"
	if a.virtual {
		prefix = "compute_"
	}
	return prefix + strconv.Itoa(a.capability) + a.suffix
}

// The first capabilities that have features of their own (wgmma, for one), and
// that come in families.
const (
	firstSpecific = 90
	firstFamily   = 100
)

// parseArch reads an architecture's name; ok is false if it is none. Whether the
// library knows it is another matter.
func parseArch(name string) (a arch, ok bool) {
	rest, real := strings.CutPrefix(name, "sm_")
	if !real {
		rest, a.virtual = strings.CutPrefix(name, "compute_")
	}
	digits := strings.TrimRight(rest, "af")
	n, err := strconv.ParseUint(digits, 10, 16)
	a.capability, a.suffix = int(n), rest[len(digits):]
	switch {
	case !real && !a.virtual, err != nil, strconv.Itoa(a.capability) != digits:
		return a, false
	case a.suffix == "a":
		return a, a.capability >= firstSpecific
	case a.suffix == "f":
		return a, a.capability >= firstFamily
	}
	return a, a.suffix == ""
}

// minimal leaves out declarations that kernels do without, which saves time.
const minimal = "--minimal"

// known returns the options that this version takes: it can do without some that
// only save time.
func (l *Library) known(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), func(o string) bool {
		return o == minimal && (l.major < 12 || l.major == 12 && l.minor < 8)
	})
}
