package nvrtc

import "container/list"

// recent keeps the outputs used last, up to a number of bytes.
type recent struct {
	max, bytes int64
	order      *list.List // of *kept, the one used last in front
	at         map[key]*list.Element
}

type kept struct {
	key   key
	out   *Output
	bytes int64
}

func newRecent(max int64) recent {
	return recent{max: max, order: list.New(), at: make(map[key]*list.Element)}
}

func (r *recent) get(k key) *Output {
	e := r.at[k]
	if e == nil {
		return nil
	}
	r.order.MoveToFront(e)
	return e.Value.(*kept).out
}

// put keeps an output that is not kept yet, and lets go of others for it.
func (r *recent) put(k key, out *Output) {
	if r.get(k) != nil {
		return
	}
	n := int64(len(out.PTX) + len(out.CUBIN) + len(out.Log))
	for name, lowered := range out.Lowered {
		n += int64(len(name) + len(lowered))
	}
	r.at[k] = r.order.PushFront(&kept{k, out, n})
	r.bytes += n
	for r.bytes > r.max && r.order.Len() > 1 {
		last := r.order.Remove(r.order.Back()).(*kept)
		delete(r.at, last.key)
		r.bytes -= last.bytes
	}
}
