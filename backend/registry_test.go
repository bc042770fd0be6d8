package backend

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeDevice is told apart by its name; nothing else of it is called.
type fakeDevice struct {
	Device
	name   string
	number int
	opts   Options
}

func opener(name string, err error) func(int, Options) (Device, error) {
	return func(number int, o Options) (Device, error) {
		if err != nil {
			return nil, err
		}
		return &fakeDevice{name: name, number: number, opts: o}, nil
	}
}

// withDrivers runs the test with other registered backends.
func withDrivers(t *testing.T, drivers map[string]Driver) {
	registry.Lock()
	old := registry.drivers
	registry.drivers = nil
	registry.Unlock()
	t.Cleanup(func() {
		registry.Lock()
		registry.drivers = old
		registry.Unlock()
	})
	for name, d := range drivers {
		Register(name, d)
	}
}

func TestOpenByName(t *testing.T) {
	withDrivers(t, map[string]Driver{"slow": {Rank: 0, Open: opener("slow", nil)}, "fast": {Rank: 5, Open: opener("fast", nil)}})
	d, err := Open("slow", Options{Workers: 7})
	require.NoError(t, err)
	assert.Equal(t, &fakeDevice{name: "slow", opts: Options{Workers: 7}}, d)
	d, err = Open("fast:3", Options{})
	require.NoError(t, err)
	assert.Equal(t, &fakeDevice{name: "fast", number: 3}, d)
	assert.Equal(t, []string{"fast", "slow"}, Registered())
}

func TestAMissingImportIsNamed(t *testing.T) {
	withDrivers(t, nil)
	for name, want := range map[string]string{
		"cuda":     `backend "cuda" is not linked: import _ "github.com/sinter-ml/sinter/backend/cuda"`,
		"cuda:1":   `backend "cuda" is not linked: import _ "github.com/sinter-ml/sinter/backend/cuda"`,
		"cuda-sim": `backend "cuda-sim" is not linked: import _ "github.com/sinter-ml/sinter/backend/cuda/sim"`,
		"auto":     `backend "cpu" is not linked: import _ "github.com/sinter-ml/sinter/backend/cpu"`,
	} {
		_, err := Open(name, Options{})
		var e *NotLinkedError
		require.ErrorAs(t, err, &e)
		assert.EqualError(t, err, want)
	}
}

func TestAnUnknownNameListsTheLinkedBackends(t *testing.T) {
	withDrivers(t, map[string]Driver{"slow": {Rank: 0, Open: opener("slow", nil)}, "fast": {Rank: 5, Open: opener("fast", nil)}})
	_, err := Open("fsat:1", Options{})
	var e *DeviceError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "fsat:1", e.Device)
	assert.ErrorContains(t, err, `no backend "fsat"; linked: fast, slow`)
	withDrivers(t, nil)
	_, err = Open("fast", Options{})
	assert.ErrorContains(t, err, "linked: none")
}

func TestBadNames(t *testing.T) {
	withDrivers(t, map[string]Driver{"cpu": {Open: opener("cpu", nil)}})
	for _, name := range []string{"", ":0", "cpu:", "cpu:x", "cpu:-1", "cpu:0:1", "cpu:99999", "auto:0"} {
		_, err := Open(name, Options{})
		var e *DeviceError
		require.ErrorAs(t, err, &e, "%q", name)
		assert.Equal(t, name, e.Device)
	}
}

func TestAutoTakesTheBestThatWorks(t *testing.T) {
	noCard := errors.New("no card")
	withDrivers(t, map[string]Driver{
		"card": {Rank: 10, Open: opener("card", noCard)}, "good": {Rank: 2, Open: opener("good", nil)},
		"plain": {Rank: 0, Open: opener("plain", nil)}, "null": {Rank: -1, Open: opener("null", nil)},
	})
	d, err := Open("auto", Options{})
	require.NoError(t, err)
	assert.Equal(t, "good", d.(*fakeDevice).name)

	withDrivers(t, map[string]Driver{"card": {Rank: 10, Open: opener("card", noCard)}, "null": {Rank: -1, Open: opener("null", nil)}})
	_, err = Open("auto", Options{})
	require.ErrorIs(t, err, noCard)
}

func TestRegisterPanics(t *testing.T) {
	withDrivers(t, map[string]Driver{"one": {Open: opener("one", nil)}})
	for _, name := range []string{"one", "", "auto", "a:b"} {
		assert.Panics(t, func() { Register(name, Driver{Open: opener(name, nil)}) }, "%q", name)
	}
	assert.Panics(t, func() { Register("no opener", Driver{}) })
}

func TestFaultsFailOnce(t *testing.T) {
	var f Faults
	f.FailAt(CallWrite, 2)
	assert.False(t, f.Next(CallWrite))
	assert.False(t, f.Next(CallAlloc), "calls of another kind do not count")
	f.FailAt(CallWrite, 3)
	assert.True(t, f.Next(CallWrite))
	assert.False(t, f.Next(CallWrite))
	assert.True(t, f.Next(CallWrite), "the third from then")
	assert.False(t, f.Next(CallWrite))
	assert.Equal(t, 5, f.Calls(CallWrite))
}

func TestErrorsSayWhatHappened(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]error{
		"compile kernel: cause":      &CompileError{Err: cause},
		"launch add: cause":          &LaunchError{Kernel: "add", Err: cause},
		"capture: read (Sum): cause": &CaptureError{Reason: CaptureRead, Op: "Sum", Err: cause},
		"device cpu: cause":          &DeviceError{Device: "cpu", Err: cause},
		"panic: cause\nstack":        &PanicError{Value: cause, Stack: []byte("stack")},
	} {
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, cause)
	}
	assert.Nil(t, errors.Unwrap(&PanicError{Value: "no error"}))
	held := MemoryReport{Usage: MemoryUsage{InUse: 3, Allocations: 2, Reserved: 4}}
	assert.EqualError(t, &OutOfMemoryError{Bytes: 5, Report: held}, "out of memory: 5 bytes wanted, 3 in use by 2 buffers, 4 reserved")
	assert.EqualError(t, &OutOfMemoryError{Bytes: 5, Limit: 6, Report: held},
		"out of memory: 5 bytes wanted, 3 in use by 2 buffers, 4 reserved, limit 6")
}
