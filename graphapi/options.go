package graphapi

import (
	"log/slog"

	"github.com/sinter-ml/sinter/backend/fusion"
)

// Option changes how a function is captured, or how its graph is replayed.
type Option func(*options)

type options struct {
	keepWarmups     bool
	requireHardware bool
	pool            *Pool
	verify          int
	log             *slog.Logger
}

func chosen(opts []Option) options {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

func (o *options) window() fusion.WindowOptions {
	w := fusion.WindowOptions{KeepVars: o.keepWarmups}
	if o.pool != nil {
		w.Pool = o.pool.p
	}
	return w
}

// KeepWarmups leaves Vars as the warm-ups made them. By default capturing has
// no visible effect: Vars are put back. Random numbers always are.
func KeepWarmups() Option { return func(o *options) { o.keepWarmups = true } }

// RequireHardware makes a capture that would fall back to running the
// function again an error.
func RequireHardware() Option { return func(o *options) { o.requireHardware = true } }

// InPool makes the graph share the pool's memory with its other graphs.
func InPool(p *Pool) Option { return func(o *options) { o.pool = p } }

// Verify records the function again before every n-th replay, without executing
// anything, and compares: a difference that the graph would freeze is a
// *CaptureError of that replay, which then does not run. It says what became of
// host scalars, host data and tensors from outside since the capture. n < 1
// switches it off.
func Verify(n int) Option { return func(o *options) { o.verify = n } }

// Debug makes replays run launch by launch, waiting for each. Every one is
// logged at debug level with its operations and their file:line, and an error
// names the launch it comes from. It needs a device that can do so, such as the
// CPU; capturing on another is an error.
func Debug(log *slog.Logger) Option { return func(o *options) { o.log = log } }
