// Package fuser decides which operations run as one kernel and writes that
// kernel.
//
// A Fuser is offered the operations of a segment one by one and accepts or
// refuses each, naming the rule behind a refusal; what it accepted it finishes
// into an Optimization. The package sees a segment and a device's profile. It
// must not know of streams, memory or any one device.
package fuser

// Status says whether a fuser can take more operations.
type Status uint8

// The states of a fuser.
const (
	Open Status = iota
	Closed
)

// Rule names why an operation was refused; see Rules for what each means.
type Rule string

// Verdict is a fuser's answer to an offered operation.
type Verdict struct {
	Accepted bool
	Rule     Rule   // the named rule, when refused
	Detail   string // the tensors or lengths that made it apply
}

// Properties is what a fuser would gain by finishing now.
type Properties struct {
	Score float64 // nanoseconds saved
	Ready bool    // Finish may be called
}

// Fuser grows one block of operations.
type Fuser interface {
	// Name returns the fuser's name, such as "reduce-broadcast".
	Name() string
	// Fuse offers the operation at a position of the segment.
	Fuse(op int) Verdict
	Status() Status
	Properties() Properties
	// Finish returns the optimization of the accepted operations.
	Finish() (*Optimization, error)
	// Len returns how many operations were accepted.
	Len() int
	Reset()
	Clone() Fuser
}

// Factory makes a fuser for one segment on one device.
type Factory struct {
	Name string
	Doc  string // help for irdump: what it fuses and when it refuses
	New  func(g *Graph, p *Profile) Fuser
}
