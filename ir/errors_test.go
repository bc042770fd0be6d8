package ir

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOpError(t *testing.T) {
	cause := &IndexError{"index 7 is outside axis 0 of length 3"}
	e := &OpError{Op: "Select", Shapes: []Shape{{3, 2}, {}}, Err: cause}
	assert.Equal(t, "Select([3,2], []): index 7 is outside axis 0 of length 3", e.Error())
	assert.ErrorIs(t, e, cause)
	var index *IndexError
	assert.True(t, errors.As(e, &index))

	pc, file, line, _ := runtime.Caller(0)
	e.PC = pc
	at := fmt.Sprintf("%s:%d", file, line)
	assert.Equal(t, at, e.Position())
	assert.Equal(t, at+": Select([3,2], []): index 7 is outside axis 0 of length 3", e.Error())
}

func TestPosition(t *testing.T) {
	assert.Empty(t, Position(0))
	assert.Empty(t, Position(1))
}
