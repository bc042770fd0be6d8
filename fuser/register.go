package fuser

import (
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/ir"
)

// registered are the fusers of users, in the order they were registered.
var registered struct {
	sync.Mutex
	all []Factory
}

// Register adds a fuser to those of every device that is opened from now on,
// after the library's own, which therefore win ties. It takes part like any
// other: it is offered operations, and what it accepts it finishes if its score
// is the best. It returns an *ir.ArgumentError when the name is taken or
// something is missing.
func Register(f Factory) error {
	if f.Name == "" || f.New == nil {
		return &ir.ArgumentError{Msg: "a fuser needs a name and a function that makes one"}
	}
	registered.Lock()
	defer registered.Unlock()
	same := func(g Factory) bool { return g.Name == f.Name }
	if f.Name == HorizontalName || slices.ContainsFunc(Default(), same) || slices.ContainsFunc(registered.all, same) {
		return &ir.ArgumentError{Msg: "there is a fuser " + f.Name + " already"}
	}
	registered.all = append(registered.all, f)
	return nil
}

// Unregister removes a registered fuser, and reports whether there was one. Open
// devices keep it.
func Unregister(name string) bool {
	registered.Lock()
	defer registered.Unlock()
	n := len(registered.all)
	registered.all = slices.DeleteFunc(slices.Clone(registered.all), func(f Factory) bool { return f.Name == name })
	return len(registered.all) < n
}

// Registered returns the registered fusers.
func Registered() []Factory {
	registered.Lock()
	defer registered.Unlock()
	return slices.Clone(registered.all)
}
