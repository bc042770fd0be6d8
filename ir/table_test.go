package ir

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		row := Lookup(k)
		require.NotEmpty(t, row.Name, "kind %d", k)
		assert.False(t, seen[row.Name], "%s is named twice", row.Name)
		seen[row.Name] = true
		assert.NotNil(t, row.Infer, row.Name)
		assert.NotEmpty(t, row.Doc, row.Name)
		assert.NotZero(t, row.DTypes, row.Name)
		assert.LessOrEqual(t, row.MinScalars, row.MaxScalars, row.Name)
		assert.True(t, row.MaxIn < 0 || row.MinIn <= row.MaxIn, row.Name)
		back, ok := ParseKind(row.Name)
		assert.True(t, ok && back == k, row.Name)
		assert.Equal(t, row.Name, k.String())
		if row.Scalar != SNone {
			assert.Equal(t, ClassMap, row.Class, row.Name)
			assert.Equal(t, row.Scalar.Sig().Arity, row.MaxIn, row.Name)
		}
	}
	assert.Len(t, seen, int(numKinds)-1)
}

// Each scalar function but none is what one kind does to each element.
func TestEveryScalarOpHasOneKind(t *testing.T) {
	users := map[ScalarOp]int{}
	for _, k := range Kinds() {
		users[Lookup(k).Scalar]++
	}
	for _, s := range ScalarOps() {
		assert.Equal(t, 1, users[s], s.String())
	}
}

func TestUnknownKind(t *testing.T) {
	assert.Equal(t, "Invalid", Kind(60000).String())
	assert.Equal(t, "Invalid", KindInvalid.String())
	for _, name := range []string{"", "Invalid", "add", "Frobnicate"} {
		_, ok := ParseKind(name)
		assert.False(t, ok, name)
	}
}

func TestClassNames(t *testing.T) {
	assert.Equal(t, "map", Lookup(Add).Class.String())
	assert.Equal(t, "gather", Lookup(Embedding).Class.String())
	assert.Equal(t, "effect", Lookup(Set).Class.String())
	assert.Len(t, classNames, int(ClassOpaque)+1)
}

func TestDTypeSet(t *testing.T) {
	assert.Equal(t, "floats", Floats.String())
	assert.Equal(t, "floats, integers, bool, f8e4m3 or f8e5m2", AnyDType.String())
	assert.Equal(t, "i8 or u8", Bytes.String())
	assert.Equal(t, "bool", OnlyBool.String())
	assert.Equal(t, "", DTypeSet(0).String())
	assert.False(t, AnyDType.Has(Invalid))
	assert.False(t, AnyDType.Has(DType(200)))
}

// The dtypes of operand 0 in the table are the ones the rules list.
func TestTableDTypes(t *testing.T) {
	for _, k := range Kinds() {
		var want DTypeSet
		for _, d := range dtypesOf(k) {
			want |= 1 << d
		}
		assert.Equal(t, want.String(), Lookup(k).DTypes.String(), k.String())
	}
}
