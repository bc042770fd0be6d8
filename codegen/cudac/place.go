package cudac

import (
	"slices"
	"strings"
)

// placeFuncs are device functions over the source's own type of places.
var placeFuncs = slices.Concat(countFuncs, listFuncs, foldFuncs, sortFuncs)

// countFuncs are the device functions of counts and indices.
var countFuncs = []deviceFunc{
	{name: "quotient", text: `// a / b and a % b of counts that are not negative
__device__ __forceinline__ idx quotient(idx a, idx b) { return (idx)((uidx)a / (uidx)b); }
__device__ __forceinline__ idx modulo(idx a, idx b) { return (idx)((uidx)a % (uidx)b); }
`},
	{name: "in_range", text: `// whether an index lies in 0 … n-1; one that does not is reported
__device__ bool in_range(long long i, long long n, unsigned long long* fault)
{
    if ((unsigned long long)i < (unsigned long long)n) return true;
    if (atomicCAS(&fault[0], 0ull, 1ull) == 0ull) {
        fault[1] = (unsigned long long)i;
        fault[2] = (unsigned long long)n;
    }
    return false;
}
`},
}

// functions returns the text of the device functions named: those of templates,
// vectors, then the library's.
func functions(names []string) string {
	var b strings.Builder
	var library []string
	for _, n := range names {
		if !templateFunc(n) && !strings.HasPrefix(n, vectorPrefix) {
			library = append(library, n)
		}
	}
	for _, f := range templateFuncs {
		if slices.Contains(names, f.name) {
			b.WriteString("\n" + f.text)
		}
	}
	for _, n := range names {
		if v, ok := strings.CutPrefix(n, vectorPrefix); ok {
			b.WriteString("\n" + v)
		}
	}
	for _, f := range resolve(library) {
		b.WriteString("\n" + f.text)
	}
	return b.String()
}

// templateFuncs are the device functions of templates, in the order in which they
// stand in a source.
var templateFuncs = slices.Concat(placeFuncs, copyFuncs, tensorFuncs, groupFuncs, mapFuncs, weightFuncs)

func templateFunc(name string) bool {
	return slices.ContainsFunc(templateFuncs, func(f deviceFunc) bool { return f.name == name })
}
