package soak

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/safetensors"
)

var errDisk = errors.New("disk full")

// fullDisk is a writer that takes a number of bytes and then fails.
type fullDisk struct {
	bytes.Buffer
	room int
}

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errDisk
	}
	return n, nil
}

// TestDiskFullWhileSaving: plans and weights that cannot be written are an error
// of the call, wherever the disk is full, and nothing else changes.
func TestDiskFullWhileSaving(t *testing.T) {
	dev := open(t)
	m := newModel(dev)
	x, y := wavy(dev, batch, features), sinter.Ones(dev, sinter.F32, batch, 1)
	loss := read[float32](t, m.train(x, y))[0]
	file := map[string]safetensors.Tensor{}
	for i, p := range m.params() {
		b, err := sinter.ReadBytes(ctx, p.Value())
		require.NoError(t, err)
		file[string(rune('a'+i))] = safetensors.Tensor{DType: p.DType(), Shape: p.Shape(), Data: b}
	}
	for name, save := range map[string]func(d *fullDisk) error{
		"plans":   func(d *fullDisk) error { return dev.SavePlans(d) },
		"weights": func(d *fullDisk) error { return safetensors.Write(d, file, nil) },
	} {
		whole := &fullDisk{room: 1 << 30}
		require.NoError(t, save(whole), name)
		for room := 0; room < whole.Len(); room += 1 + whole.Len()/97 {
			d := &fullDisk{room: room}
			require.ErrorIs(t, save(d), errDisk, "%s, %d bytes", name, room)
			if name == "plans" { // what there is loads, or says what is wrong
				if _, err := dev.LoadPlans(bytes.NewReader(d.Bytes())); err != nil {
					var plan *sinter.PlanError
					require.ErrorAs(t, err, &plan, "%d bytes", room)
				}
			} else {
				var format *safetensors.FormatError
				_, err := safetensors.Parse(d.Bytes())
				require.ErrorAs(t, err, &format, "%d bytes", room)
			}
		}
		require.NoError(t, save(&fullDisk{room: 1 << 30}), name)
	}
	require.Less(t, read[float32](t, m.train(x, y))[0], loss, "it goes on")
}

// TestDiskThatTakesNothing: a directory of plans that cannot be made is a
// warning and disturbs no result; a trace that cannot be made is an error of Open.
func TestDiskThatTakesNothing(t *testing.T) {
	run := func(dev *sinter.Device) []float32 {
		m := newModel(dev)
		var out []float32
		for range 3 {
			out = append(out, read[float32](t, m.train(wavy(dev, batch, features), sinter.Ones(dev, sinter.F32, batch, 1)))...)
		}
		return out
	}
	want := run(open(t))

	notADir := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(notADir, nil, 0o600))
	var log bytes.Buffer
	dev, err := sinter.Open("cpu", sinter.WithPlanDir(notADir), sinter.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, err)
	require.Equal(t, want, run(dev))
	require.NoError(t, dev.Close())
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), log.String())

	_, err = sinter.Open("cpu", sinter.WithTrace(filepath.Join(notADir, "trace")))
	require.Error(t, err, "a file that cannot be made")
}
