package optimize

import (
	"container/list"
	"iter"
)

// lru keeps the last used values under 64-bit keys; a key may have several.
type lru[V any] struct {
	limit int
	order *list.List // of *lruItem[V], last used first
	items map[uint64][]*list.Element
}

type lruItem[V any] struct {
	key   uint64
	value V
}

func newLRU[V any](limit int) *lru[V] {
	return &lru[V]{limit: limit, order: list.New(), items: make(map[uint64][]*list.Element)}
}

func (l *lru[V]) len() int { return l.order.Len() }

// find returns the newest value under key for which ok is true, and counts it
// as used.
func (l *lru[V]) find(key uint64, ok func(*V) bool) (*V, bool) {
	for _, e := range l.items[key] {
		if v := &e.Value.(*lruItem[V]).value; ok(v) {
			l.order.MoveToFront(e)
			return v, true
		}
	}
	return nil, false
}

// all yields the values, the last used first.
func (l *lru[V]) all() iter.Seq[*V] {
	return func(yield func(*V) bool) {
		for e := l.order.Front(); e != nil; e = e.Next() {
			if !yield(&e.Value.(*lruItem[V]).value) {
				return
			}
		}
	}
}

// add puts a value before the others under its key and returns how many were
// dropped to make room.
func (l *lru[V]) add(key uint64, v V) (evicted int) {
	e := l.order.PushFront(&lruItem[V]{key, v})
	l.items[key] = append([]*list.Element{e}, l.items[key]...)
	for ; l.order.Len() > l.limit; evicted++ {
		last := l.order.Back()
		l.order.Remove(last)
		k := last.Value.(*lruItem[V]).key
		kept := l.items[k][:0]
		for _, e := range l.items[k] {
			if e != last {
				kept = append(kept, e)
			}
		}
		if l.items[k] = kept; len(kept) == 0 {
			delete(l.items, k)
		}
	}
	return evicted
}
