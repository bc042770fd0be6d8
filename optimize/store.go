package optimize

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/internal/cachedir"
)

// Store holds states that were saved, until somebody asks for them, and saves
// new ones in its directory if it has one. It never fails a plan: what cannot
// be read or written is warned of once for each cause and left alone. It may be
// used by several goroutines at once.
type Store struct {
	planner *Planner
	log     *slog.Logger
	version func() (Version, error)

	mu   sync.Mutex
	held map[uint64][]held
	dir  *stateDir // nil: none
	said map[string]bool
}

// held is a state nobody asked for yet: its bytes, or the name of its file.
type held struct {
	data []byte
	file string
}

// NewStore returns an empty store of the planner's states.
func NewStore(p *Planner, log *slog.Logger) *Store {
	return &Store{planner: p, log: log, version: sync.OnceValues(p.Version), held: make(map[uint64][]held), said: make(map[string]bool)}
}

// warn says what happened to saved plans, once for each message. The lock is
// held.
func (s *Store) warn(msg string, err error) {
	if !s.said[msg] {
		s.said[msg] = true
		s.log.Warn("sinter: "+msg, "error", err)
	}
}

// Read takes the states written by Write up to the first fault, and returns how
// many it took. A fault is a *StateError; other errors are the reader's.
func (s *Store) Read(r io.Reader) (int, error) {
	v, err := s.version()
	if err != nil {
		return 0, err
	}
	all, err := readEntries(r, v)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range all {
		s.held[e.hash] = append(s.held[e.hash], held{data: e.data})
	}
	return len(all), err
}

// Write writes states, and those read that nobody asked for yet.
func (s *Store) Write(w io.Writer, states []State) error {
	v, err := s.version()
	if err != nil {
		return err
	}
	var all []savedState
	for i := range states {
		data, err := states[i].encode()
		if err != nil {
			return err
		}
		all = append(all, savedState{states[i].Key.Hash, data})
	}
	s.mu.Lock()
	for hash, list := range s.held {
		for _, h := range list {
			if h.data != nil {
				all = append(all, savedState{hash, h.data})
			}
		}
	}
	s.mu.Unlock()
	slices.SortStableFunc(all, func(a, b savedState) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return 0
	})
	return writeEntries(w, v, all)
}

// OpenDir makes the store read and write states in a directory, which is made
// if need be. Plans of other programs and versions stay there untouched.
func (s *Store) OpenDir(path string) { s.openDir(path, cachedir.OS{}) }

func (s *Store) openDir(path string, files cachedir.Files) {
	v, err := s.version()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.dir, err = openStateDir(path, v, files)
	}
	if err != nil {
		s.warn("plans are not kept", err)
		return
	}
	for _, name := range s.dir.names {
		hash, _ := s.dir.parse(name)
		s.held[hash] = append(s.held[hash], held{file: name})
	}
}

// Restore returns the saved states of a segment, each once.
func (s *Store) Restore(k Key) []*State {
	s.mu.Lock()
	list := s.held[k.Hash]
	delete(s.held, k.Hash)
	s.mu.Unlock()
	var out []*State
	for _, h := range list {
		state, err := s.restore(k.Hash, h)
		if err != nil {
			s.mu.Lock()
			s.warn("a saved plan is not used", err)
			s.mu.Unlock()
			continue
		}
		if slices.Equal(state.Key.Tokens, k.Tokens) {
			out = append(out, state)
		}
	}
	return out
}

func (s *Store) restore(hash uint64, h held) (*State, error) {
	data := h.data
	if data == nil {
		var err error
		if data, err = s.dir.read(h.file, hash); err != nil {
			return nil, fmt.Errorf("%s: %w", h.file, err)
		}
	}
	state, err := s.planner.decode(hash, data)
	if err != nil {
		return nil, &StateError{StateCorrupt, err}
	}
	return state, nil
}

// Save writes a state to the directory, if there is one. After a failure no
// more are written.
func (s *Store) Save(state *State) bool {
	s.mu.Lock()
	dir := s.dir
	s.mu.Unlock()
	if dir == nil || dir.failed.Load() {
		return false
	}
	data, err := state.encode()
	if err == nil {
		err = dir.write(savedState{state.Key.Hash, data})
	}
	if errors.Is(err, errSaved) {
		return false
	}
	if err != nil {
		dir.failed.Store(true)
		s.mu.Lock()
		s.warn("plans are not kept any more", err)
		s.mu.Unlock()
		return false
	}
	return true
}
