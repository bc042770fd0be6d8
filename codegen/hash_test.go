package codegen

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNameIsNoPartOfTheIdentity(t *testing.T) {
	a, b := mapKernel(), mapKernel()
	b.Name = "other"
	b.Body[0].Origin = "other"
	assert.Equal(t, a.Hash(), b.Hash())
	assert.True(t, a.Equal(b))
	a.Body[0].Args = []Value{}
	assert.True(t, a.Equal(b), "no arguments are no arguments")
	assert.Equal(t, a.Hash(), b.Hash())
}

func TestHashIsTheSameInEveryProcess(t *testing.T) {
	assert.Equal(t, uint64(0x5cb750bdf3a854ec), scanKernel().Hash())
}

// Changing any field of a kernel, found by reflection so that none is
// forgotten, changes the hash and makes the kernels unequal.
func TestEveryFieldCounts(t *testing.T) {
	for _, f := range validKernels {
		base := f()
		changes := 0
		leaves(reflect.ValueOf(base).Elem(), "", func(path string, _ reflect.Value) {
			if path == ".Name" || strings.HasSuffix(path, ".Kernel.Name") || strings.HasSuffix(path, ".Origin") {
				return // a custom operation's name counts
			}
			changed := f()
			leaves(reflect.ValueOf(changed).Elem(), "", func(p string, v reflect.Value) {
				if p == path {
					bump(v)
				}
			})
			changes++
			assert.False(t, base.Equal(changed), "%s%s", base.Name, path)
			assert.NotEqual(t, base.Hash(), changed.Hash(), "%s%s", base.Name, path)
		})
		assert.Greater(t, changes, 30)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	for _, f := range validKernels {
		base := f()
		c := base.Clone()
		assert.Equal(t, base, c)
		leaves(reflect.ValueOf(c).Elem(), "", func(_ string, v reflect.Value) { bump(v) })
		assert.Equal(t, f(), base)
	}
}

// leaves calls f for each number, bool and string of a value.
func leaves(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), path+"["+string(rune('0'+i))+"]", f)
		}
	case reflect.Pointer:
		leaves(v.Elem(), path, f)
	default:
		f(path, v)
	}
}

func bump(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	default:
		v.SetUint(v.Uint() + 1)
	}
}

func TestKernelsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, f := range validKernels {
		k := f()
		assert.Empty(t, seen[k.Hash()])
		seen[k.Hash()] = k.Name
		for _, g := range validKernels {
			assert.Equal(t, g().Name == k.Name, k.Equal(g()))
		}
	}
}
