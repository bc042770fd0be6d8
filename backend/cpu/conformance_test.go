package cpu

import (
	"testing"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/backendtest"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, func(o backend.Options) backend.Device { return Open(o) })
}

func TestConformanceOnOneThread(t *testing.T) {
	backendtest.Run(t, func(o backend.Options) backend.Device {
		o.Workers = 1
		return Open(o)
	})
}
