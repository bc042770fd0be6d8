package graphapi

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sinter-ml/sinter"
)

// TreeError says what in the inputs or outputs of a typed graph cannot be
// captured, or is not as it was when the graph was.
type TreeError struct {
	Path   string // such as In.Layers[2].Cache["k"]
	Reason string
}

func (e *TreeError) Error() string { return e.Path + ": " + e.Reason }

// tree is a value flattened to its tensors.
type tree struct {
	leaves []*sinter.Tensor
	paths  []string // of the leaves
	form   []node   // the structure and what is not a tensor, in order
}

// node is a part of a tree's structure that must not change.
type node struct {
	path string
	what string // "tensor", "nil", a length, keys, or a value
}

// flatten lists the tensors of v: struct fields in order, elements of slices and
// arrays, values of maps in order of keys, and what pointers point to.
func flatten(root string, v reflect.Value) (*tree, error) {
	t := &tree{}
	return t, t.walk(root, v, nil)
}

var tensorType = reflect.TypeFor[*sinter.Tensor]()

func (t *tree) note(path, what string) { t.form = append(t.form, node{path, what}) }

func (t *tree) walk(path string, v reflect.Value, above []uintptr) error {
	if v.Type() == tensorType {
		if v.IsNil() {
			t.note(path, "nil")
			return nil
		}
		t.note(path, "tensor")
		t.leaves = append(t.leaves, v.Interface().(*sinter.Tensor))
		t.paths = append(t.paths, path)
		return nil
	}
	if err := supported(path, v.Type()); err != nil {
		return err
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if err := t.walk(path+"."+v.Type().Field(i).Name, v.Field(i), above); err != nil {
				return err
			}
		}
	case reflect.Array, reflect.Slice:
		t.note(path, "length "+strconv.Itoa(v.Len()))
		for i := range v.Len() {
			if err := t.walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i), above); err != nil {
				return err
			}
		}
	case reflect.Map:
		keys := sortedKeys(v)
		t.note(path, fmt.Sprintf("keys %q", names(keys)))
		for _, k := range keys {
			if err := t.walk(fmt.Sprintf("%s[%q]", path, k.String()), v.MapIndex(k), above); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			t.note(path, "nil")
			return nil
		}
		t.note(path, "pointer")
		if slices.Contains(above, v.Pointer()) {
			return &TreeError{path, "points to itself"}
		}
		return t.walk(path, v.Elem(), append(above, v.Pointer()))
	default:
		t.note(path, fmt.Sprintf("value %#v", v.Interface()))
	}
	return nil
}

// supported says why values of a type cannot be in a tree.
func supported(path string, t reflect.Type) error {
	switch t.Kind() {
	case reflect.Struct:
		switch t {
		case reflect.TypeFor[sinter.Tensor](), reflect.TypeFor[sinter.Var]():
			return &TreeError{path, fmt.Sprintf("%v is no input or output; use *sinter.Tensor, and let the function refer to Vars", t)}
		}
		for i := range t.NumField() {
			if f := t.Field(i); !f.IsExported() {
				return &TreeError{path + "." + f.Name, "the field is not exported"}
			}
		}
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return &TreeError{path, fmt.Sprintf("keys of %v are no strings", t)}
		}
	case reflect.Array, reflect.Slice, reflect.Pointer, reflect.Bool, reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
	default:
		return &TreeError{path, fmt.Sprintf("%v is neither a tensor, nor a struct, slice, array, map or pointer of such, nor a scalar", t)}
	}
	return nil
}

func sortedKeys(m reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(m.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
}

func names(keys []reflect.Value) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.String()
	}
	return out
}

// unlike says where the structure of t differs from that of was.
func (t *tree) unlike(was *tree) error {
	for i := range min(len(t.form), len(was.form)) {
		if a, b := t.form[i], was.form[i]; a != b {
			return &TreeError{a.path, fmt.Sprintf("it is %s, and was %s when captured", a.what, b.what)}
		}
	}
	// A tree that goes on where the other ends differs before.
	return nil
}

// rebuild returns a copy of v, whose tree this is, with other tensors.
func (t *tree) rebuild(v reflect.Value, leaves []*sinter.Tensor) reflect.Value {
	out, rest := replaced(v, leaves)
	if len(rest) > 0 {
		panic("graphapi: a tree has fewer leaves than it had")
	}
	return out
}

func replaced(v reflect.Value, leaves []*sinter.Tensor) (reflect.Value, []*sinter.Tensor) {
	if v.Type() == tensorType {
		if v.IsNil() {
			return v, leaves
		}
		return reflect.ValueOf(leaves[0]), leaves[1:]
	}
	out := reflect.New(v.Type()).Elem()
	set := func(dst, src reflect.Value) {
		var x reflect.Value
		x, leaves = replaced(src, leaves)
		dst.Set(x)
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			set(out.Field(i), v.Field(i))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			set(out.Index(i), v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			set(out.Index(i), v.Index(i))
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for _, k := range sortedKeys(v) {
			x := reflect.New(v.Type().Elem()).Elem()
			set(x, v.MapIndex(k))
			out.SetMapIndex(k, x)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			set(out.Elem(), v.Elem())
		}
	default:
		out.Set(v)
	}
	return out, leaves
}
