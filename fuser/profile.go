package fuser

// Profile is all a fuser knows of a device: what things cost.
type Profile struct {
	Name       string
	Bandwidth  float64 // bytes moved in a nanosecond
	LaunchCost float64 // nanoseconds to launch a kernel
	OpCost     float64 // nanoseconds for one cheap scalar operation on one element, all workers busy
	RowBytes   int     // bytes of a row that stay on chip in a Rows kernel
	MaxBuffers int     // most buffers of one kernel
	// MaxArguments is the most buffers of the parts of one launch together, 0:
	// MaxBuffers.
	MaxArguments int
	MaxOps       int // most operations of one block
}
