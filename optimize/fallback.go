package optimize

import (
	"fmt"
	"sync"

	"github.com/sinter-ml/sinter/fuser"
)

// Block is one optimization of a plan. How its operations run alone is worked
// out when it is first asked for: blocks hardly ever fail.
type Block struct {
	*fuser.Optimization
	apart *apartness // nil: the block already is one operation lowered alone
}

// apartness is a block's operations one by one.
type apartness struct {
	once  sync.Once
	lower func() ([]*fuser.Optimization, error)
	ops   []*fuser.Optimization
	err   error
}

// Fallback returns what runs the block's operations one by one, in order, when
// the block fails to compile or launch. It writes every output, virtual ones
// too, and takes nobody's storage. It is nil when the block already is one
// operation lowered alone. It is worked out once, by whoever calls first.
func (b *Block) Fallback() ([]*fuser.Optimization, error) {
	if b.apart == nil {
		return nil, nil
	}
	b.apart.once.Do(func() {
		b.apart.ops, b.apart.err = b.apart.lower()
		b.apart.lower = nil // and the graph with it
	})
	return b.apart.ops, b.apart.err
}

// fallback returns a block of the given operations that falls back to each of
// them lowered alone. The graph must not change any more.
func (p *Planner) fallback(g *fuser.Graph, o *fuser.Optimization) Block {
	return Block{Optimization: o, apart: &apartness{lower: func() ([]*fuser.Optimization, error) {
		out := make([]*fuser.Optimization, 0, len(o.Ops))
		for _, op := range o.Ops {
			alone, err := p.single(g, op)
			if err != nil {
				return nil, fmt.Errorf("optimize: %d:%s: %w", op, g.Ops[op].Kind, err)
			}
			alone.InPlace = nil // what is free then was not worked out
			out = append(out, alone)
		}
		return out, nil
	}}}
}
