package trace

import (
	"runtime"

	"github.com/sinter-ml/sinter/fuser"
)

// Version is the format this package writes, and the only one it reads.
const Version = "sinter.trace v1"

// Header is the first line of a trace. The caller of Open fills in what it
// knows; Open sets the version and what it can find out.
type Header struct {
	Version string   `json:"version"`
	Device  string   `json:"device"`
	Profile Profile  `json:"profile"`
	Fusers  []string `json:"fusers"`            // in order of preference, none: no fusion
	Disable []string `json:"disable,omitempty"` // passes, fusers and rules that are switched off
	Force   bool     `json:"force,omitempty"`
	Go      string   `json:"go"`
	System  string   `json:"system"` // operating system and architecture
}

// Profile is a fuser.Profile with the names it has in a trace.
type Profile struct {
	Name         string  `json:"name"`
	Bandwidth    float64 `json:"bytes_per_ns"`
	LaunchCost   float64 `json:"launch_ns"`
	OpCost       float64 `json:"op_ns"`
	RowBytes     int     `json:"row_bytes"`
	MaxBuffers   int     `json:"max_buffers"`
	MaxArguments int     `json:"max_arguments,omitempty"`
	MaxOps       int     `json:"max_ops"`
}

// NewHeader returns the header of runs on a device with the given name,
// profile and fusers.
func NewHeader(device string, p fuser.Profile, fusers []fuser.Factory) Header {
	h := Header{Device: device, Profile: Profile(p), Fusers: []string{}}
	for _, f := range fusers {
		h.Fusers = append(h.Fusers, f.Name)
	}
	return h
}

func (h Header) complete() Header {
	h.Version, h.Go, h.System = Version, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
	return h
}
