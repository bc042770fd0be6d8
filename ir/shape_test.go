package ir

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShape(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		n     int
		text  string
	}{
		{nil, 1, "[]"}, {Shape{}, 1, "[]"}, {Shape{7}, 7, "[7]"}, {Shape{2, 3, 4}, 24, "[2,3,4]"}, {Shape{2, 0, 4}, 0, "[2,0,4]"},
	} {
		assert.Equal(t, c.n, c.shape.NumElements())
		assert.Equal(t, c.text, c.shape.String())
		assert.Equal(t, len(c.shape), c.shape.Rank())
		assert.True(t, c.shape.Equal(c.shape.Clone()))
	}
	assert.True(t, Shape(nil).Equal(Shape{}))
	assert.False(t, Shape{1}.Equal(Shape{}))
	s := Shape{1, 2}
	c := s.Clone()
	c[0] = 9
	assert.Equal(t, Shape{1, 2}, s)
}

func TestBroadcast(t *testing.T) {
	for _, c := range []struct {
		shapes []Shape
		want   string
	}{
		{nil, "[]"},
		{[]Shape{{}, {}}, "[]"},
		{[]Shape{{3}, {}}, "[3]"},
		{[]Shape{{4, 1}, {3}}, "[4,3]"},
		{[]Shape{{1}, {0}}, "[0]"},
		{[]Shape{{5, 1, 1}, {4, 1}, {3}}, "[5,4,3]"},
	} {
		got, ok := Broadcast(c.shapes...)
		assert.True(t, ok, "%v", c.shapes)
		assert.Equal(t, c.want, got.String())
	}
	for _, s := range [][]Shape{{{2}, {3}}, {{0}, {2}}, {{1}, {2}, {3}}} {
		_, ok := Broadcast(s...)
		assert.False(t, ok, "%v", s)
	}
	in := Shape{2, 3}
	out, _ := Broadcast(in, Shape{3})
	out[0] = 9
	assert.Equal(t, Shape{2, 3}, in)
}
