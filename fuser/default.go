package fuser

// Default returns the fusers of the library in the order in which they win
// ties. A user's factories can be appended.
func Default() []Factory {
	var out []Factory
	for _, s := range []*species{matmul, reduceBroadcast, reduce, scan, order, elementwise} {
		out = append(out, Factory{
			Name: s.name,
			Doc:  s.doc,
			New:  func(g *Graph, p *Profile) Fuser { return newBlock(s, g, p) },
		})
	}
	return out
}
