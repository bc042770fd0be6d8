// Package trace is the file that SINTER_TRACE names: what was recorded, how it
// was planned and how often it ran, as lines of JSON, for irdump and for
// people.
//
// The first line is a Header. Each line after it is either a segment, written
// when its plan is first seen, or how often a known one has run on a stream, or
// the device's counters, once it is closed. A
// trace holds programs and decisions and no tensor data: of values only scalars
// are in it, as first recorded.
//
// The package knows segments and plans as they are. It must not know the user
// API, nor how a trace is shown.
package trace
