//go:build race

package graphapi_test

// raceDetector: the detector allocates where the program does not.
const raceDetector = true
