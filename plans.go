package sinter

import (
	"io"

	"github.com/sinter-ml/sinter/optimize"
)

// PlanError says why saved plans were not taken: they are of another program,
// version or device, damaged, or cut short.
type PlanError = optimize.StateError

// SavePlans writes every plan the device has, for [Device.LoadPlans] in another
// process of the same program on a device of the same profile; see also
// [WithPlanDir].
func (d *Device) SavePlans(w io.Writer) error {
	rt := d.Runtime()
	switch {
	case rt == nil:
		return errNoPlace
	case w == nil:
		return &ArgumentError{Msg: "writer is nil"}
	}
	return rt.SavePlans(w)
}

// LoadPlans takes plans written by [Device.SavePlans], up to the first fault, and
// returns how many it took. A plan is checked when a program first needs it. A
// fault is a *[PlanError]; other errors are the reader's.
func (d *Device) LoadPlans(r io.Reader) (int, error) {
	rt := d.Runtime()
	switch {
	case rt == nil:
		return 0, errNoPlace
	case r == nil:
		return 0, &ArgumentError{Msg: "reader is nil"}
	}
	return rt.LoadPlans(r)
}
