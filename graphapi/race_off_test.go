//go:build !race

package graphapi_test

const raceDetector = false
