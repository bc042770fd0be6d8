package optimize

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/cachedir/cachedirtest"
)

// Each call to the disk fails in turn, once or from then on: plans come out
// right or not at all, that is said once for each cause, and the directory is as
// good as before for whoever opens it next.
func TestDiskThatFails(t *testing.T) {
	p := newShop(Options{}).p
	for _, all := range []bool{false, true} {
		for fail := 1; ; fail++ {
			dir := t.TempDir()
			before := shopOf(p)
			before.OpenDir(dir)
			kept := before.plan(t, 1, small(4))
			require.True(t, before.Save(kept))

			f := &cachedirtest.Faulty{Fail: fail, All: all}
			s := shopOf(p)
			s.openDir(dir, f)
			got := s.Restore(kept.Key)
			saved := 0
			for i := range 3 {
				if s.Save(s.plan(t, uint64(10+i), small(5+i))) {
					saved++
				}
			}
			msg := fmt.Sprintf("call %d, %v: %s", fail, all, s.log.String())
			if f.Calls() < fail {
				require.Len(t, got, 1, msg)
				require.Equal(t, 3, saved, msg)
				require.Zero(t, s.warnings(), msg)
				break
			}
			require.True(t, len(got) == 0 || saved < 3, msg)
			require.LessOrEqual(t, s.warnings(), 2, msg)
			require.Positive(t, s.warnings(), msg)

			next := shopOf(p)
			next.OpenDir(dir)
			require.Len(t, next.Restore(kept.Key), 1, msg)
			for i := range saved {
				require.Len(t, next.Restore(Key{Hash: uint64(10 + i), Tokens: []uint64{uint64(10 + i), 5}}), 1, msg)
			}
			require.Zero(t, next.warnings(), "%s\n%s", msg, next.log.String())
			require.True(t, next.Save(next.plan(t, 20, small(9))), msg)
		}
	}
}

func TestDirectoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	write := func(name string, at time.Time) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	write("oldest-1-1.plan", old.Add(-time.Hour))
	for i := range maxStateFiles {
		write(fmt.Sprintf("%d-1-1.plan", i), old)
	}
	s := newShop(Options{})
	s.OpenDir(dir)
	require.NoFileExists(t, filepath.Join(dir, "oldest-1-1.plan"))
	require.FileExists(t, filepath.Join(dir, "0-1-1.plan"))
	require.Zero(t, s.warnings())
}
