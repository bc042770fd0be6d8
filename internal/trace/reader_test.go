package trace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
)

// sample is a closed trace with a few segments and counts.
func sample(t testing.TB) []byte {
	t.Helper()
	ctx := context.Background()
	rt := open(t, fusion.Options{})
	var out buffer
	w, err := newWriter(&file{out: &out, open: 1}, header(rt))
	require.NoError(t, err)
	rt.Observe(w.Observe)
	s := rt.Default()
	x, v := from(s, 4, 8), s.NewVar(from(s, 4, 1))
	for range 5 {
		require.NoError(t, step(ctx, s, x, v))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// A trace cut anywhere behind its header reads as what stands before the cut.
func TestTruncated(t *testing.T) {
	raw := sample(t)
	first := bytes.IndexByte(raw, '\n') + 1
	for n := first; n <= len(raw); n += 1 + len(raw)/997 {
		r, err := NewReader(bytes.NewReader(raw[:n]))
		require.NoError(t, err)
		lines := 0
		for {
			_, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			lines++
		}
		assert.Equal(t, bytes.Count(raw[first:n], []byte("\n")), lines)
		assert.Equal(t, raw[n-1] != '\n', r.Truncated())
	}
	for n := 0; n < first-1; n++ {
		_, err := NewReader(bytes.NewReader(raw[:n]))
		var format *FormatError
		require.ErrorAs(t, err, &format)
		assert.Equal(t, 1, format.Line)
	}
}

func TestBadTraces(t *testing.T) {
	raw := string(sample(t))
	lines := strings.SplitAfter(raw, "\n")
	head, segment := lines[0], lines[1]
	// with returns the trace with a change in its first segment.
	with := func(old, changed string) string {
		require.Contains(t, segment, old)
		return head + strings.Replace(segment, old, changed, 1)
	}
	cases := []struct{ name, text, want string }{
		{"empty", "", "1:1: unexpected end of JSON input"},
		{"other version", strings.Replace(head, Version, "sinter.trace v0", 1), `1:1: version is "sinter.trace v0"`},
		{"garbage", head + "garbage\n", "2:1: invalid character"},
		{"garbage inside", head + `{"id":1,,}` + "\n", "2:9: invalid character"},
		{"unknown segment", head + `{"id":7,"count":2}` + "\n", "2:1: there is no segment 7"},
		{"twice", head + segment + segment, "3:1: segment 1 is there twice"},
		{"no program", head + `{"id":1,"segment":{}}` + "\n", "there is no program"},
		{"no log", with(`"log":{`, `"no":{`), "there is no log"},
		{"bad program", with(`"kind":"Exp"`, `"kind":"Explode"`), `there is no kind "Explode"`},
		{"bad position", with(`"blocks":[{"fuser":"`, `"blocks":[{"operations":[99],"fuser":"x"},{"fuser":"`), "there is no operation 99"},
		{"negative position", with(`"blocks":[{"fuser":"`, `"blocks":[{"operations":[-1],"fuser":"x"},{"fuser":"`), "there is no operation -1"},
		{"empty block", with(`"blocks":[{"fuser":"`, `"blocks":[{"operations":[],"fuser":"x"},{"fuser":"`), "are not ascending"},
		{"bad tensor", with(`"tensors":[{"id":0`, `"tensors":[{"id":4000`), "there is no tensor 4000"},
		{"bad strides", with(`"tensors":[{"id":0`, `"tensors":[{"strides":[1,2,3,4,5,6,7,8,9],"id":0`), "9 strides and rank"},
		{"bad decision", with(`"decisions":[{"event":"`, `"decisions":[{"op":12345,"event":"x"},{"event":"`), "there is no operation 12345"},
		{"bad type", with(`"score_ns":`, `"score_ns":{},"x":`), "cannot unmarshal object"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text))
			var format *FormatError
			require.ErrorAs(t, err, &format)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// A later version may add keys.
func TestUnknownKeysAreSkipped(t *testing.T) {
	raw := strings.ReplaceAll(string(sample(t)), `{"fuser":`, `{"colour":"red","fuser":`)
	tr, err := Read(strings.NewReader(raw))
	require.NoError(t, err)
	assert.NotEmpty(t, tr.Segments)
}

type failing struct{ in io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	if errors.Is(err, io.EOF) {
		err = errFull
	}
	return n, err
}

func TestReadErrorsAreTold(t *testing.T) {
	raw := sample(t)
	for _, n := range []int{0, 5, len(raw) / 2, len(raw)} {
		_, err := Read(failing{bytes.NewReader(raw[:n])})
		require.ErrorIs(t, err, errFull)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample(f))
	f.Add([]byte(`{"version":"sinter.trace v1"}` + "\n" + `{"id":1,"count":3}` + "\n"))
	f.Add([]byte(`{"version":"sinter.trace v1"}` + "\n" +
		`{"id":1,"segment":{"program":{"version":"sinter.program v1","inputs":[{"id":0,"dtype":"f32","shape":[2]}]},"tensors":[{"id":0}],"blocks":[],"log":{"decisions":null}}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for i := range tr.Segments {
			tr.Segments[i].Total()
		}
	})
}
