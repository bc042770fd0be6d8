package backend

// Capturer is the part of a device that records work instead of running it.
//
// A stream that waits for one that is recording takes part in the recording
// until it ends, as in CUDA; the stream the recording began on must wait for
// all its work before EndCapture. Waiting for work outside the recording, or of
// another recording, is a *CaptureError and changes nothing.
type Capturer interface {
	// BeginCapture starts recording the launches and copies on s.
	BeginCapture(s Stream) error
	// EndCapture stops the recording that began on s, whatever it returns; with
	// doomed it only stops. A *CaptureError says that memory was taken from the
	// system meanwhile, that the work of a stream was not waited for, or that a
	// body was left open. On a stream that merely takes part it is refused, and
	// the recording goes on.
	EndCapture(s Stream, doomed bool) (Graph, error)
	// BeginBody makes what is recorded on s until EndBody the body of a
	// conditional part. Bodies may hold bodies. Other streams take part in a body
	// when they wait for s in it, which needs s to wait for their work before the
	// body; s must wait for their work in the body before it ends. After it they
	// take part in what is around it when they wait again.
	BeginBody(s Stream, c Condition) error
	EndBody(s Stream) error
}

// Condition says when the body of a conditional part of a recording runs. It is
// evaluated when a replay gets there, on the device.
type Condition struct {
	Pred  *Buffer // true if one of its first bytes is not zero
	Bytes int     // how many
	Not   bool    // the body runs if the predicate is false
	Loop  bool    // the body runs again and again while the predicate holds
	Limit int     // Loop: at most so often, 0: without bound
}

// Graph is recorded work that can be run again.
type Graph interface {
	// Launches returns how many kernels are recorded, those of bodies counted
	// once.
	Launches() int
	// Replay runs the recorded work on s. Launches take parameters from the
	// state as their Launch.State says: a device with memory of its own puts the
	// state there, where the kernels read it.
	Replay(s Stream, state []uint64) error
	// Update makes the graph do the work of from, which is of the same device and
	// ends, in place of its own. A *CaptureError with CaptureTopology says that
	// they differ in more than arguments, and both are as before.
	Update(from Graph) error
	Destroy() error
}

// Stepper is a graph that can tell of each step of a replay. Debugging uses it.
type Stepper interface {
	// ReplaySteps is Replay that waits for each launch and copy, in the order
	// they run, and calls after with its number in the order of recording and
	// its error. It stops with the first error.
	ReplaySteps(s Stream, state []uint64, after func(step int, err error) error) error
}
