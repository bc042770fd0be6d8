package nvrtc

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// fake is a compiler behind NVRTC's interface whose PTX is the source with the
// options before it, so that these tests run where there is no NVRTC.
type fake struct {
	failing string        // the call that fails
	with    result        // and its result
	old     bool          // has no flow callback
	gate    chan struct{} // if not nil, compilations wait for it

	mu       sync.Mutex
	programs map[program]*fakeProgram
	last     program
	compiles int
	running  int
	most     int // that ran at once
}

type fakeProgram struct {
	source, options string
	flow, payload   uintptr
}

// loaded is the library that the fake is behind.
func (f *fake) loaded(slots int) *Library {
	f.programs = make(map[program]*fakeProgram)
	l := &Library{path: "fake", major: 12, minor: 9, archs: []int{80, 90, 100}, slots: make(chan struct{}, slots)}
	a := &l.api
	a.errorString = func(r result) string { return "FAKE_ERROR" }
	a.create = func(p *program, source, _ string, _ int32, _, _ **byte) result {
		if f.failing == "create" {
			return f.with
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.last++
		*p = f.last
		f.programs[*p] = &fakeProgram{source: source}
		return success
	}
	a.destroy = func(p *program) result {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.programs, *p)
		return success
	}
	a.compile = f.compile
	a.addName = func(program, string) result { return f.result("addName") }
	a.loweredName = func(_ program, name string, to **byte) result {
		*to = &append([]byte("lowered "+name), 0)[0]
		return f.result("loweredName")
	}
	a.logSize, a.log = f.gives("log", func(p *fakeProgram) string { return "k.cu(1): error: said\x00" })
	a.ptxSize, a.ptx = f.gives("ptx", func(p *fakeProgram) string { return p.options + p.source + "\x00" })
	a.cubinSize, a.cubin = f.gives("cubin", func(p *fakeProgram) string { return "CUBIN of " + p.source })
	if !f.old {
		a.flowCallback = func(p program, callback, payload uintptr) result {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.programs[p].flow, f.programs[p].payload = callback, payload
			return success
		}
	}
	return l
}

func (f *fake) result(call string) result {
	if f.failing == call {
		return f.with
	}
	return success
}

// gives makes the two functions that give a text.
func (f *fake) gives(what string, of func(*fakeProgram) string) (size func(program, *uint64) result, copyTo func(program, *byte) result) {
	get := func(p program) string {
		f.mu.Lock()
		defer f.mu.Unlock()
		return of(f.programs[p])
	}
	size = func(p program, n *uint64) result {
		*n = uint64(len(get(p)))
		return f.result(what + "Size")
	}
	copyTo = func(p program, to *byte) result {
		copy(unsafe.Slice(to, len(get(p))), get(p))
		return f.result(what)
	}
	return size, copyTo
}

// compile waits for the gate, asking from time to time whether to go on.
func (f *fake) compile(p program, n int32, list **byte) result {
	f.mu.Lock()
	f.compiles++
	f.running++
	f.most = max(f.most, f.running)
	it := f.programs[p]
	for _, o := range unsafe.Slice(list, n) {
		it.options += cString(o) + "\n"
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	for waiting := f.gate != nil; waiting; {
		select {
		case <-f.gate:
			waiting = false
		case <-time.After(time.Millisecond):
			if it.payload != 0 && flow(it.payload, 0) == callbackCancel {
				return failedCancelled
			}
		}
	}
	return f.result("compile")
}

// left is how many programs were not destroyed.
func (f *fake) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.programs)
}

func (f *fake) counts() (compiles, running, most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.compiles, f.running, f.most
}

// logged is a logger and what it wrote, safe for use while it is written.
type logged struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

func (l *logged) warnings() int { return strings.Count(l.String(), "level=WARN") }

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
