package ir

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpError(t *testing.T) {
	cause := &IndexError{"index 7 is outside axis 0 of length 3"}
	e := &OpError{Op: "Select", Shapes: []Shape{{3, 2}, {}}, Err: cause}
	assert.Equal(t, "Select([3,2], []): index 7 is outside axis 0 of length 3", e.Error())
	assert.ErrorIs(t, e, cause)
	var index *IndexError
	assert.True(t, errors.As(e, &index))

	// What runtime.Callers returns is what is recorded; runtime.Caller's counter
	// is another on some platforms.
	var pc [1]uintptr
	require.Equal(t, 1, runtime.Callers(1, pc[:]))
	_, file, line, _ := runtime.Caller(0)
	line--
	e.PC = pc[0]
	at := fmt.Sprintf("%s:%d", file, line)
	assert.Equal(t, at, e.Position())
	assert.Equal(t, at+": Select([3,2], []): index 7 is outside axis 0 of length 3", e.Error())
}

func TestPosition(t *testing.T) {
	assert.Empty(t, Position(0))
	assert.Empty(t, Position(1))
}
