package optimize

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func unpacked(t testing.TB, data []byte) []byte {
	t.Helper()
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	require.NoError(t, err)
	return raw
}

func packed(t testing.TB, raw []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestSpeed)
	require.NoError(t, err)
	_, err = z.Write(raw)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

// rewritten changes what a state's bytes say.
func rewritten(t testing.TB, data []byte, f func(*stateData)) []byte {
	t.Helper()
	var d stateData
	require.NoError(t, gob.NewDecoder(bytes.NewReader(unpacked(t, data))).Decode(&d))
	f(&d)
	var raw bytes.Buffer
	require.NoError(t, gob.NewEncoder(&raw).Encode(&d))
	return packed(t, raw.Bytes())
}
