//go:build unix

package cachedir

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to this user or to the administrator, who
// can do anything anyway.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}
