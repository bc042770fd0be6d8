package ir

import "strings"

// DTypeSet is a set of element types.
type DTypeSet uint8

// The sets the table is written with.
const (
	Floats    = DTypeSet(1<<F32 | 1<<BF16)
	Numbers   = Floats | 1<<I64
	AnyDType  = Numbers | 1<<Bool
	OnlyBool  = DTypeSet(1 << Bool)
	OnlyInt64 = DTypeSet(1 << I64)
)

// Has reports whether d is in the set.
func (s DTypeSet) Has(d DType) bool { return d.Valid() && s&(1<<d) != 0 }

// String lists the set in words, such as "f32, bf16 or i64".
func (s DTypeSet) String() string {
	var names []string
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
	for _, part := range []rows{mapRows, sourceRows, viewRows, indexRows, reduceRows, compositeRows} {
		for k, row := range part {
			table[k] = row
			kindByName[row.Name] = k
		}
	}
}
