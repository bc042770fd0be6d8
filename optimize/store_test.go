package optimize

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// shop is a planner with a store whose warnings are kept.
type shop struct {
	*Store
	p   *Planner
	log bytes.Buffer
}

func newShop(o Options) *shop { return shopOf(New(fuser.Default(), cpuProfile, o)) }

func shopOf(p *Planner) *shop {
	s := &shop{p: p}
	s.Store = NewStore(p, slog.New(slog.NewTextHandler(&s.log, nil)))
	s.version = func() (Version, error) {
		v, ok := versions.Load(p)
		if !ok {
			v = p.version([]byte("program"))
			versions.Store(p, v)
		}
		return v.(Version), nil
	}
	return s
}

// versions are those of the planners: they take a while to work out.
var versions sync.Map

func (s *shop) warnings() int { return strings.Count(s.log.String(), "level=WARN") }

// small is a segment whose state takes few bytes.
func small(n int) *Segment {
	b := &builder{}
	b.asked(b.op(ir.Exp, b.op(ir.Neg, b.in(n))))
	return b.done()
}

func (s *shop) plan(t testing.TB, hash uint64, seg *Segment) *State {
	t.Helper()
	plan, err := s.p.Plan(seg)
	require.NoError(t, err)
	return &State{Key: Key{Hash: hash, Tokens: []uint64{hash, 5}, Sequence: hash}, Segment: seg, Plan: plan}
}

func TestStatesAsAStream(t *testing.T) {
	one := newShop(Options{})
	states := []State{*one.plan(t, 1, small(4)), *one.plan(t, 2, small(5)), *one.plan(t, 2, small(6))}
	states[2].Key.Tokens = []uint64{9}
	var out bytes.Buffer
	require.NoError(t, one.Write(&out, states))

	two := newShop(Options{})
	n, err := two.Read(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	var again bytes.Buffer
	require.NoError(t, two.Write(&again, nil))
	require.Equal(t, out.Bytes(), again.Bytes(), "what nobody asked for is written again")

	got := two.Restore(states[1].Key)
	require.Len(t, got, 1, "the other state of this hash is of another segment")
	require.Equal(t, states[1].Plan.Format(states[1].Segment), got[0].Plan.Format(got[0].Segment))
	require.Empty(t, two.Restore(states[1].Key), "once")
	require.Empty(t, two.Restore(Key{Hash: 77}))
	require.Len(t, two.Restore(states[0].Key), 1)
	require.Zero(t, two.warnings())
}

// A version is everything plans follow from.
func TestVersions(t *testing.T) {
	base := New(fuser.Default(), cpuProfile, Options{}).version([]byte("program"))
	require.Equal(t, base, New(fuser.Default(), cpuProfile, Options{Check: true, LogLimit: 3}).version([]byte("program")), "changes no plan")
	require.Equal(t, base, New(fuser.Default(), cpuProfile, Options{Window: 512}).version([]byte("program")), "the default")
	faster := cpuProfile
	faster.Bandwidth++
	for name, v := range map[string]Version{
		"program": New(fuser.Default(), cpuProfile, Options{}).version([]byte("another")),
		"fusers":  New(fuser.Default()[1:], cpuProfile, Options{}).version([]byte("program")),
		"profile": New(fuser.Default(), faster, Options{}).version([]byte("program")),
		"force":   New(fuser.Default(), cpuProfile, Options{Force: true}).version([]byte("program")),
		"pass":    New(fuser.Default(), cpuProfile, Options{Disable: []string{"cse"}}).version([]byte("program")),
		"window":  New(fuser.Default(), cpuProfile, Options{Window: 7}).version([]byte("program")),
	} {
		require.NotEqual(t, base, v, name)
	}
	a := New(nil, cpuProfile, Options{Disable: []string{"cse", "fold-view"}}).version(nil)
	require.Equal(t, a, New(nil, cpuProfile, Options{Disable: []string{"fold-view", "cse"}}).version(nil), "in any order")
}

// Where a program cannot be told apart from others, plans are not kept, and that
// is said.
func TestProgramThatCannotBeToldApart(t *testing.T) {
	s := newShop(Options{})
	s.version = func() (Version, error) { return Version{}, errDisk }
	s.OpenDir(t.TempDir())
	require.Equal(t, 1, s.warnings())
	require.ErrorIs(t, s.Write(io.Discard, nil), errDisk)
	_, err := s.Read(strings.NewReader(""))
	require.ErrorIs(t, err, errDisk)
}

func TestProgramIdentity(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Skipf("saved plans are told apart by the running program, whose file is not known here: %v", err)
	}
	v, err := New(nil, cpuProfile, Options{}).Version()
	require.NoError(t, err)
	require.NotZero(t, v)
	own, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, hasBuildID(own[:min(len(own), identityHead)]), "the head is enough")
	other := filepath.Join(t.TempDir(), "other")
	identity := func(data []byte) string {
		require.NoError(t, os.WriteFile(other, data, 0o600))
		id, err := fileIdentity(other)
		require.NoError(t, err)
		return string(id)
	}
	plain := make([]byte, 2*identityHead)
	first := identity(plain)
	plain[len(plain)-1] = 1
	require.NotEqual(t, first, identity(plain), "without a build ID all of a file counts")
	require.False(t, hasBuildID([]byte("\xff Go build ID: \"\"\n \xff")))
	require.True(t, hasBuildID([]byte("xx\xff Go build ID: \"abc\"\n \xff")))
	require.False(t, hasBuildID([]byte("\x04\x00\x00\x00Go\x00\x00")))
	_, err = fileIdentity(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Whatever is cut off or changed is refused with a typed error; what came before
// is taken.
func TestDamagedStreams(t *testing.T) {
	s := newShop(Options{})
	first, second := *s.plan(t, 1, small(4)), *s.plan(t, 2, small(5))
	var one, both bytes.Buffer
	require.NoError(t, s.Write(&one, []State{first}))
	require.NoError(t, s.Write(&both, []State{first, second}))
	all := both.Bytes()
	read := func(data []byte) (int, *StateError) {
		n, err := shopOf(s.p).Read(bytes.NewReader(data))
		var typed *StateError
		if err != nil {
			require.ErrorAs(t, err, &typed)
			require.Contains(t, []StateFault{StateForeign, StateCorrupt, StateTruncated}, typed.Fault)
		}
		return n, typed
	}
	header := len(stateMagic) + len(Version{})
	for cut := range len(all) {
		n, err := read(all[:cut])
		whole := map[bool]int{true: 1}[cut >= one.Len()]
		require.Equal(t, whole, n, "cut at %d", cut)
		if cut == header || cut == one.Len() {
			require.Nil(t, err, "a stream of fewer states")
		} else {
			require.NotNil(t, err, "cut at %d", cut)
			require.Equal(t, StateTruncated, err.Fault)
		}
	}
	for at := range all {
		data := bytes.Clone(all)
		data[at] ^= 0x10
		n, err := read(data)
		require.NotNil(t, err, "changed at %d", at)
		require.Equal(t, at < header, err.Fault == StateForeign, "changed at %d: %v", at, err)
		require.Equal(t, map[bool]int{true: 1}[at >= one.Len()], n)
	}
	_, err := read([]byte("this is no stream of plans, but text that is long enough"))
	require.Equal(t, StateForeign, err.Fault)

	forced := newShop(Options{Force: true})
	_, err2 := forced.Read(bytes.NewReader(all))
	require.ErrorContains(t, err2, "foreign", "of other options")
	_, err2 = newShop(Options{}).Read(iotest.TimeoutReader(bytes.NewReader(all)))
	require.ErrorIs(t, err2, iotest.ErrTimeout, "a reader's failure is its own")
	require.Error(t, s.Write(brokenWriter{}, []State{first}))
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestStateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "plans")
	one := newShop(Options{})
	one.OpenDir(dir)
	state := one.plan(t, 1, small(4))
	require.True(t, one.Save(state))
	require.False(t, one.Save(state), "it is there")
	info, err := os.Stat(dir)
	require.NoError(t, err)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
	if runtime.GOOS != "windows" {
		require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
		file, err := list[0].Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), file.Mode().Perm())
	}
	// Files of others are left alone.
	for _, name := range []string{"notes.txt", "x-y-z.plan", "new-1.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("?"), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, one.dir.version.String()+"-01-02.plan"), 0o700))

	two := newShop(Options{})
	two.OpenDir(dir)
	got := two.Restore(state.Key)
	require.Len(t, got, 1)
	require.Equal(t, state.Plan.Format(state.Segment), got[0].Plan.Format(got[0].Segment))
	require.False(t, two.Save(state), "it is there")
	require.Zero(t, two.warnings(), two.log.String())

	other := newShop(Options{Force: true})
	other.OpenDir(dir)
	require.Empty(t, other.Restore(state.Key), "made with other options")
	require.True(t, other.Save(state))
	require.Zero(t, other.warnings())
}

// Every byte of a plan's file is cut off and changed: no plan comes of it, and
// that is said once.
func TestDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	s := newShop(Options{})
	s.OpenDir(dir)
	state := s.plan(t, 1, small(4))
	require.True(t, s.Save(state))
	list, err := filepath.Glob(filepath.Join(dir, "*.plan"))
	require.NoError(t, err)
	require.Len(t, list, 1)
	whole, err := os.ReadFile(list[0])
	require.NoError(t, err)
	refused := func(data []byte, msg string, at int) {
		require.NoError(t, os.WriteFile(list[0], data, 0o600))
		s := shopOf(s.p)
		s.OpenDir(dir)
		require.Empty(t, s.Restore(state.Key), "%s %d", msg, at)
		require.Equal(t, 1, s.warnings(), "%s %d: %s", msg, at, s.log.String())
	}
	step := 1
	if testing.Short() {
		step = 7 // of the stream every byte is tried, see above
	}
	for at := 0; at < len(whole); at += step {
		refused(whole[:at], "cut at", at)
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		refused(changed, "changed at", at)
	}
	refused(append(bytes.Clone(whole), whole[len(stateMagic)+len(Version{}):]...), "two states", 0)
	require.NoError(t, os.Remove(list[0]))
	s = newShop(Options{})
	s.OpenDir(dir)
	require.Empty(t, s.Restore(state.Key))
	require.Zero(t, s.warnings(), "nothing was there")
}

func TestDirectoryThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	for _, path := range []string{file, open} {
		if path == open && runtime.GOOS == "windows" {
			continue
		}
		s := newShop(Options{})
		s.OpenDir(path)
		require.Equal(t, 1, s.warnings(), path)
		state := s.plan(t, 1, small(4))
		require.False(t, s.Save(state))
		require.Empty(t, s.Restore(state.Key))
		require.Equal(t, 1, s.warnings())
	}
}

var errDisk = errors.New("no space left on device")
