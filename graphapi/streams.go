package graphapi

import "github.com/sinter-ml/sinter"

// IsCapturing reports whether operations recorded on s now are only recorded,
// not executed: a read would be refused. It is false in warm-ups.
func IsCapturing(s *sinter.Stream) bool {
	if s.Runtime() == nil {
		return false
	}
	_, recorded := s.Runtime().Capturing()
	return recorded
}
