//go:build race

package cpu

func init() { raceEnabled = true }
