package sinter

import "github.com/sinter-ml/sinter/backend/fusion"

// Stats counts what a device or a stream did: operations, plans, launches,
// bytes, allocations, copies. Sub gives what happened between two moments,
// String a table. Package sintertest pins them in tests.
type Stats = fusion.Stats

// Stats returns the device's counters since Open.
func (d *Device) Stats() Stats {
	rt := d.Runtime()
	if rt == nil {
		return Stats{}
	}
	return rt.Stats()
}

// Stats returns the stream's counters since it was made. What belongs to no one
// stream (compiles, reserves, memory, churn reports) is zero in them, and a
// launch of a graph whose condition decides how often it runs counts once.
func (s *Stream) Stats() Stats {
	if s.Runtime() == nil {
		return Stats{}
	}
	return s.s.Stats()
}
