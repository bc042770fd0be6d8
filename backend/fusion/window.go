package fusion

import "github.com/sinter-ml/sinter/backend"

// Window is a capture that is open on a stream.
type Window struct {
	s         *Stream
	recording bool
	refusal   *backend.CaptureError
}

func (w *Window) hostData(pc uintptr) {}

func (w *Window) refuse(what string, v *Value) error {
	w.refusal = &backend.CaptureError{Reason: what, Op: v.Name()}
	return w.refusal
}
