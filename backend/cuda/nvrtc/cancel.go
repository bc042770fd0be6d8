package nvrtc

import (
	"context"
	"sync"
	"sync/atomic"
)

// watched holds the contexts of the compilations that run, by a number: no
// pointer of Go may be kept by C.
var (
	watched   sync.Map // of uintptr to context.Context
	lastWatch atomic.Uintptr
)

// flow is what the compiler calls with the payload it was given, on the thread
// that compiles.
func flow(payload, _ uintptr) uintptr {
	if ctx, ok := watched.Load(payload); ok && ctx.(context.Context).Err() != nil {
		return callbackCancel
	}
	return callbackContinue
}

// flowPointer is flow as C sees it. Callbacks are never freed, so there is one.
var flowPointer = sync.OnceValue(func() uintptr { return newCallback(flow) })

// watch lets the compiler ask whether ctx is done, where it can ask, until the
// function that is returned is called.
func (l *Library) watch(ctx context.Context, p program) (end func()) {
	if ctx.Done() == nil || l.api.flowCallback == nil {
		return func() {}
	}
	id := lastWatch.Add(1)
	watched.Store(id, ctx)
	// If it cannot be set the compilation runs to its end.
	_ = l.api.flowCallback(p, flowPointer(), id)
	return func() { watched.Delete(id) }
}
