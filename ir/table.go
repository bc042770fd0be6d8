package ir

import "strings"

// DTypeSet is a set of element types.
type DTypeSet uint32

// The sets the table is written with.
const (
	Floats    = DTypeSet(1<<F64 | 1<<F32 | 1<<F16 | 1<<BF16)
	Ints      = DTypeSet(1<<I64 | 1<<I32 | 1<<I16 | 1<<I8 | 1<<U64 | 1<<U32 | 1<<U16 | 1<<U8)
	Numbers   = Floats | Ints
	OnlyBool  = DTypeSet(1 << Bool)
	Computing = Numbers | OnlyBool // all that have operations
	AnyDType  = Computing | 1<<F8E4M3 | 1<<F8E5M2
	Bytes     = DTypeSet(1<<I8 | 1<<U8)
)

// Has reports whether d is in the set.
func (s DTypeSet) Has(d DType) bool { return d.Valid() && s&(1<<d) != 0 }

// String lists the set in words, such as "floats, i64 or bool".
func (s DTypeSet) String() string {
	var names []string
	for _, family := range [...]struct {
		set  DTypeSet
		name string
	}{{Floats, "floats"}, {Ints, "integers"}} {
		if s&family.set == family.set {
			names = append(names, family.name)
			s &^= family.set
		}
	}
	for d := Invalid + 1; d < numDTypes; d++ {
		if s.Has(d) {
			names = append(names, d.String())
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// rows is the part of the table one file writes.
type rows map[Kind]Info

// table and kindByName are filled by init: the rows refer to functions that
// look kinds up, which an initialiser may not do.
var (
	table      = [numKinds]Info{KindInvalid: {Name: "Invalid"}}
	kindByName = make(map[string]Kind, numKinds)
)

func init() {
	for _, part := range []rows{mapRows, sourceRows, viewRows, indexRows, reduceRows, orderRows, compositeRows, gradRows} {
		for k, row := range part {
			table[k] = row
			kindByName[row.Name] = k
		}
	}
}
