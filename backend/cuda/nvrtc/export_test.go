package nvrtc

// Running is how many compilations run.
func (l *Library) Running() int { return len(l.slots) }
