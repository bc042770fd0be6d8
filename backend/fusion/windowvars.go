package fusion

import (
	"context"
	"slices"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// restore puts Vars back to what they were when the window opened. Each gets a
// version nobody outside has a handle on.
func (w *Window) restore() error {
	if w.keepVars {
		return nil
	}
	for _, v := range w.vars {
		if m := w.snapshots[v]; m != nil {
			w.s.Effect(v, ir.Operation{Kind: ir.Set}, w.s.leaf(m, codegen.Contiguous(v.shape), v.dtype))
		}
	}
	return w.s.Flush(context.Background())
}

// pin fixes the addresses of the Vars the window touches, and gives each Var
// that shares its memory memory of its own.
func (w *Window) pin() error {
	for _, v := range w.vars {
		if w.pins[v] {
			continue
		}
		if err := w.s.pinVar(v); err != nil {
			return err
		}
		w.pins[v] = true
	}
	return nil
}

// pinVar fixes the address of a Var until unpin.
func (s *Stream) pinVar(v *Var) error {
	v.content.Lock()
	defer v.content.Unlock()
	v.mu.Lock()
	cur := v.cur
	v.mu.Unlock()
	if f := s.resolve(cur); f != nil {
		return f.report()
	}
	if cur.storage == nil {
		return &backend.CaptureError{Reason: "a Var the program uses is written on another stream meanwhile"}
	}
	if cur.storage.refs.Load() > 1 && !cur.storage.fixed {
		own, err := s.clone(cur.storage)
		if err != nil {
			return err
		}
		cur.storage.letGo()
		cur.storage, cur.let = own, false
	}
	v.fix(cur.storage)
	v.pins++
	return nil
}

// fix makes m the Var's memory for as long as something pins it.
func (v *Var) fix(m *Storage) {
	v.pinned, v.pin = true, m
	m.fixed = true
}

// unwritten gives each Var that was only recorded to be written, since a tensor
// was made, a version without a past: nothing ran, so its memory has the content
// it had before.
func (w *Window) unwritten(since ir.TensorID) {
	for _, v := range w.overwritten() {
		v.content.Lock()
		v.mu.Lock()
		if v.pinned && v.cur.id > since {
			old := v.cur
			if old.storage == v.pin {
				old.let, old.storage = true, nil
				old.setState(Gone)
			}
			v.cur = w.s.rt.newVersion(v, v.pin)
		}
		v.mu.Unlock()
		v.content.Unlock()
	}
}

// newVersion returns a stored version of v that has memory m.
func (rt *Runtime) newVersion(v *Var, m *Storage) *Value {
	nv := rt.newValue()
	nv.shape, nv.dtype = v.shape, v.dtype
	nv.version = newVersion(v)
	nv.store(m, codegen.Contiguous(v.shape))
	return nv
}

// unpin ends one pinVar, and frees the Var's address after the last.
func (v *Var) unpin() {
	v.content.Lock()
	defer v.content.Unlock()
	v.pins--
	if v.pins == 0 && v.pinned {
		v.pinned = false
		if v.pin != nil {
			v.pin.fixed = false
		}
		v.pin = nil
	}
}

// overwritten returns the Vars that a pass writes, in order of number.
func (w *Window) overwritten() (vars []*Var) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.vars {
		if w.written[v] > 0 {
			vars = append(vars, v)
		}
	}
	return vars
}

// Use counts v among the Vars of the window, even if no pass touches it.
func (w *Window) Use(v *Var) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touch(v)
}

// touch is used with the window's lock held.
func (w *Window) touch(v *Var) {
	i, found := slices.BinarySearchFunc(w.vars, v.number, func(x *Var, n uint64) int {
		switch {
		case x.number < n:
			return -1
		case x.number > n:
			return 1
		}
		return 0
	})
	if found {
		return
	}
	if w.recording {
		w.refuse("a Var is used that no warm-up used", 0)
		return
	}
	w.vars = slices.Insert(w.vars, i, v)
}

// overwrite keeps a Var's content from before the window, at the first effect
// of a pass on it. It reports whether the effect is to be left out: in a body
// that does not run, an effect on a Var that nothing prepared for it, as the
// first pass that meets it could not know, could not be taken back.
func (w *Window) overwrite(s *Stream, v *Var, cur *Value) (skip bool, err error) {
	if !w.running.Load() {
		return false, nil // putting back
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touch(v)
	if w.written[v] == 0 {
		if w.recording {
			w.refuse("a Var is written that no warm-up wrote", 0)
		}
		w.written[v] = 1 + w.pass
	}
	if w.unrun.Load() {
		return !w.recording && w.written[v] == 1+w.pass, nil
	}
	if w.snapshots[v] != nil || w.keepVars || cur.storage == nil {
		return false, nil
	}
	m, err := s.clone(cur.storage)
	if err != nil {
		return false, err
	}
	w.snapshots[v] = m
	return false, nil
}
