package ptx

import "strings"

// Opcode is a mnemonic with all its modifiers, decoded. Within a module equal
// opcodes are one pointer.
type Opcode struct {
	Name  string // as written: "ld.global.nc.v4.f32"
	Op    Op
	Mods  []Mod  // the modifiers that are not types, in the order written
	Types []Type // the types in the order written: destination first
	Space Space  // the space it names, Generic if none
	Vec   int    // elements of .v2, .v4, .v8; 1 otherwise
	Shape Shape  // of ModShape
}

// Shape is the m, n and k of a matrix instruction; K is 0 where none is written.
type Shape struct{ M, N, K int }

// Has reports whether the modifier is written.
func (o *Opcode) Has(m Mod) bool {
	for _, x := range o.Mods {
		if x == m {
			return true
		}
	}
	return false
}

// Type returns the last type written, which is the one that most instructions
// have; NoType if there is none.
func (o *Opcode) Type() Type {
	if len(o.Types) == 0 {
		return NoType
	}
	return o.Types[len(o.Types)-1]
}

// decodeOpcode splits and decodes the text of an opcode. bad is the part that is
// not known, rule what it should be; both are empty if all is well.
func decodeOpcode(text string) (o *Opcode, bad, rule string) {
	head, rest, _ := strings.Cut(text, ".")
	op := opByName[head]
	if op == NoOp {
		return nil, head, "want a known mnemonic"
	}
	o = &Opcode{Name: text, Op: op, Vec: 1}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, ".")
		if t, ok := typeByName[part]; ok {
			o.Types = append(o.Types, t)
			continue
		}
		m, ok := modByName[part]
		if !ok {
			if o.Shape, ok = parseShape(part); !ok {
				return nil, part, "want a known modifier"
			}
			m = ModShape
		}
		o.Mods = append(o.Mods, m)
		switch m {
		case ModGlobal:
			o.Space = Global
		case ModShared, ModSharedCta, ModSharedCluster:
			// A copy names both of its spaces; the first is that of its destination.
			if o.Space == Generic {
				o.Space = Shared
			}
		case ModLocal:
			o.Space = Local
		case ModConst:
			o.Space = Const
		case ModParam, ModParamEntry, ModParamFunc:
			o.Space = Param
		case ModV2:
			o.Vec = 2
		case ModV4:
			o.Vec = 4
		case ModV8:
			o.Vec = 8
		}
	}
	return o, "", ""
}

// parseShape reads m16n8k16 or m8n8.
func parseShape(s string) (Shape, bool) {
	var v [3]int
	i := 0
	for n, letter := range []byte("mnk") {
		if i == len(s) && n == 2 {
			break
		}
		if i >= len(s) || s[i] != letter {
			return Shape{}, false
		}
		i++
		start := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' && i-start < 4 {
			v[n] = v[n]*10 + int(s[i]-'0')
			i++
		}
		if i == start {
			return Shape{}, false
		}
	}
	return Shape{v[0], v[1], v[2]}, i == len(s)
}
