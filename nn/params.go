package nn

import (
	"iter"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/sinter-ml/sinter"
)

// Params yields the parameters of a module, or of any struct of modules, with
// their paths, in the order of the fields.
//
// A parameter is a *sinter.Var in an exported field. Its path is the names of
// the fields that lead to it, joined by dots; elements of slices, arrays and
// [Sequential] are named by their number from 0. A field's name is its tag
// `nn:"name"` or else the Go name in snake case (InProj is in_proj); a field
// tagged `nn:"-"` is left out, and an embedded struct without a tag, exported or
// not, adds no name. Fields that are nil are absent. A Var reached by several
// paths is yielded once, under the first.
func Params(module any) iter.Seq2[string, *sinter.Var] {
	return func(yield func(string, *sinter.Var) bool) {
		for p := range params(module) {
			if !yield(p.path, p.v) {
				return
			}
		}
	}
}

// param is a parameter and what holds it.
type param struct {
	path   string
	v      *sinter.Var
	linear bool // the weight of a Linear
}

func params(module any) iter.Seq[param] {
	return func(yield func(param) bool) {
		w := walker{yield: yield, vars: make(map[*sinter.Var]bool), seen: make(map[visit]bool)}
		w.walk("", reflect.ValueOf(module))
	}
}

// walker goes through a module. Its methods report whether to go on.
type walker struct {
	yield func(param) bool
	vars  map[*sinter.Var]bool
	seen  map[visit]bool // pointers followed, as modules may share parts
}

type visit struct {
	at uintptr
	t  reflect.Type
}

var (
	varType    = reflect.TypeFor[*sinter.Var]()
	linearType = reflect.TypeFor[Linear]()
)

func (w *walker) walk(path string, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface:
		return w.walk(path, v.Elem())
	case reflect.Pointer:
		at := visit{v.Pointer(), v.Type()}
		switch {
		case v.IsNil() || w.seen[at]:
			return true
		case v.Type() == varType:
			return w.found(param{path: path, v: v.Interface().(*sinter.Var)})
		}
		w.seen[at] = true
		return w.walk(path, v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !w.walk(join(path, strconv.Itoa(i)), v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		return w.fields(path, v)
	}
	return true
}

func (w *walker) fields(path string, v reflect.Value) bool {
	linear := v.Type() == linearType
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() && !(f.Anonymous && isStruct(f.Type)) {
			continue
		}
		name, tagged := f.Tag.Lookup("nn")
		switch {
		case name == "-":
			continue
		case !tagged && f.Anonymous:
			name = ""
		case !tagged:
			name = snake(f.Name)
		}
		field := v.Field(i)
		if linear && f.Name == "Weight" {
			if x := field.Interface().(*sinter.Var); x != nil && !w.found(param{path: join(path, name), v: x, linear: true}) {
				return false
			}
			continue
		}
		if !w.walk(join(path, name), field) {
			return false
		}
	}
	return true
}

// isStruct reports whether t is a struct or a pointer to one. Exported fields of
// an embedded one can be reached even if its type is not exported.
func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

func (w *walker) found(p param) bool {
	if p.v == nil || w.vars[p.v] {
		return true
	}
	w.vars[p.v] = true
	return w.yield(p)
}

func join(path, name string) string {
	switch {
	case path == "":
		return name
	case name == "":
		return path
	}
	return path + "." + name
}

// snake turns a Go name into snake case: LayerNorm is layer_norm, QKVProj is
// qkv_proj.
func snake(name string) string {
	var b strings.Builder
	rs := []rune(name)
	for i, r := range rs {
		if i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])) && rs[i-1] != '_' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
