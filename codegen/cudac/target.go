package cudac

import (
	"fmt"
	"strconv"
	"strings"
)

// Target is what code is generated for.
type Target struct {
	SM       int  // the architecture's number: 80 for compute capability 8.0
	Specific bool // with what this architecture alone has (wgmma of sm_90a)

	// SMs is how many multiprocessors share the work. It decides how blocks are
	// laid out, never a result.
	SMs int
	// Shared is how many bytes of shared memory a block may have at most.
	Shared int
	// Wgmma takes the instructions of warp groups for products of halves, where
	// the architecture has them: another numeric class, of this option.
	Wgmma bool
	// Relaxed allows faster arithmetic in another numeric class (TF32).
	Relaxed bool
}

// The targets every kernel is compiled for in tests.
var (
	Ampere    = Target{SM: 80, SMs: 108, Shared: 163 << 10}
	Hopper    = Target{SM: 90, Specific: true, SMs: 132, Shared: 227 << 10}
	Blackwell = Target{SM: 100, SMs: 148, Shared: 227 << 10}
)

// Arch returns the architecture as compilers name it, such as "sm_90a".
func (t Target) Arch() string {
	a := ""
	if t.Specific {
		a = "a"
	}
	return fmt.Sprintf("sm_%d%s", t.SM, a)
}

// ParseTarget returns the target of an architecture's name. An architecture
// without an entry above has the shape of the newest that is not newer.
func ParseTarget(arch string) (Target, error) {
	number, ok := strings.CutPrefix(arch, "sm_")
	number, specific := strings.CutSuffix(number, "a")
	sm, err := strconv.Atoi(number)
	if !ok || err != nil || sm < Ampere.SM {
		return Target{}, &TargetError{Arch: arch}
	}
	t := Ampere
	for _, known := range []Target{Hopper, Blackwell} {
		if known.SM <= sm {
			t = known
		}
	}
	t.SM, t.Specific = sm, specific
	if t.Arch() != arch { // a sign, leading zeros
		return Target{}, &TargetError{Arch: arch}
	}
	return t, nil
}

// TargetError says that no code is generated for an architecture.
type TargetError struct{ Arch string }

func (e *TargetError) Error() string {
	return fmt.Sprintf("no CUDA code is generated for %q: sm_80 or later is needed, such as sm_86 or sm_90a", e.Arch)
}

// Options returns what a compiler must be told beside the architecture: no
// product is contracted with a sum into one rounding, since a kernel rounds
// after each recorded operation.
func (t Target) Options() []string {
	return []string{"--std=c++17", "-default-device", "--minimal", "--fmad=false"}
}
