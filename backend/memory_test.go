package backend

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBytesAreFormattedInTheLargestUnit(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1 << 10: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 5 << 30: "5.0 GiB",
		3 << 40: "3.0 TiB", 5000 << 40: "5000.0 TiB",
	} {
		assert.Equal(t, want, formatBytes(n))
	}
}

var exampleReport = MemoryReport{
	Usage: MemoryUsage{Allocations: 3, InUse: 3000, Padding: 72, Reserved: 1<<20 + 1000, Peak: 4096},
	Pools: []PoolReport{
		{Pool: General, PageSize: 1 << 20, Pages: 1, Reserved: 1 << 20, Allocations: 1, InUse: 1500, Padding: 36, Peak: 2000, Largest: 1500},
		{Pool: General, PageSize: 2 << 20, Peak: 2 << 20, Largest: 2 << 20},
		{Pool: Persistent, Pages: 1, Reserved: 1000, Allocations: 1, InUse: 1000, Peak: 1000, Largest: 1000},
		{Pool: FirstPool + 4, PageSize: 1 << 20},
	},
}

func TestMemoryReportPrintsATable(t *testing.T) {
	text := exampleReport.String()
	assert.Equal(t, exampleReport.Usage.String(), "3 buffers, 2.9 KiB in use, 72 B padding, 1.0 MiB reserved, 4.0 KiB at most")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	assert.Equal(t, exampleReport.Usage.String(), lines[0])
	var fields [][]string
	for _, l := range lines[1:] {
		fields = append(fields, strings.Fields(l))
	}
	assert.Equal(t, [][]string{
		{"pool", "page", "pages", "reserved", "buffers", "in", "use", "padding", "peak", "largest"},
		strings.Fields("general 1.0 MiB 1 1.0 MiB 1 1.5 KiB 36 B 2.0 KiB 1.5 KiB"),
		strings.Fields("general 2.0 MiB 0 0 B 0 0 B 0 B 2.0 MiB 2.0 MiB"),
		strings.Fields("persistent exact 1 1000 B 1 1000 B 0 B 1000 B 1000 B"),
		strings.Fields("pool 7 1.0 MiB 0 0 B 0 0 B 0 B 0 B 0 B"),
	}, fields)
}

func TestMemoryReportSumsAPool(t *testing.T) {
	assert.Equal(t, PoolReport{
		Pool: General, Pages: 1, Reserved: 1 << 20, Allocations: 1, InUse: 1500, Padding: 36, Peak: 2000 + 2<<20, Largest: 2 << 20,
	}, exampleReport.Of(General))
	assert.Equal(t, PoolReport{Pool: Staging}, exampleReport.Of(Staging))
}

func TestDTypeUsagePrintsItsParts(t *testing.T) {
	for u, want := range map[DTypeUsage]string{
		0: "none", Storage: "storage", Storage | Arithmetic: "storage, arithmetic",
		Storage | Arithmetic | Accelerated: "storage, arithmetic, accelerated",
	} {
		assert.Equal(t, want, u.String())
	}
	assert.True(t, (Storage | Accelerated).Has(Storage))
	assert.False(t, Storage.Has(Storage|Arithmetic))
}
