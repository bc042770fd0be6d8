package env

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	defaults := Settings{Fusion: true, Graphs: true}
	with := func(f func(*Settings)) Settings {
		s := defaults
		f(&s)
		return s
	}
	tests := []struct {
		name, value string
		want        Settings
	}{
		{"SINTER_FUSION", "0", with(func(s *Settings) { s.Fusion = false })},
		{"SINTER_FUSION", "1", defaults},
		{"SINTER_FUSION", "", defaults},
		{"SINTER_NO_FUSERS", "matmul,reduce", with(func(s *Settings) { s.NoFusers = []string{"matmul", "reduce"} })},
		{"SINTER_NO_RULES", "recompute", with(func(s *Settings) { s.NoRules = []string{"recompute"} })},
		{"SINTER_NO_PASSES", "cse", with(func(s *Settings) { s.NoPasses = []string{"cse"} })},
		{"SINTER_GRAPHS", "0", with(func(s *Settings) { s.Graphs = false })},
		{"SINTER_TRACE", "/tmp/a b", with(func(s *Settings) { s.Trace = "/tmp/a b" })},
		{"SINTER_WORKERS", "7", with(func(s *Settings) { s.Workers = 7 })},
		{"SINTER_MEMORY_LIMIT", "4096", with(func(s *Settings) { s.MemoryLimit = 4096 })},
		{"SINTER_MEMORY_LIMIT", "3k", with(func(s *Settings) { s.MemoryLimit = 3 << 10 })},
		{"SINTER_MEMORY_LIMIT", "5M", with(func(s *Settings) { s.MemoryLimit = 5 << 20 })},
		{"SINTER_MEMORY_LIMIT", "2G", with(func(s *Settings) { s.MemoryLimit = 2 << 30 })},
		{"SINTER_SEED", "-9", with(func(s *Settings) { s.Seed = -9 })},
		{"SINTER_SEED", "0x10", with(func(s *Settings) { s.Seed = 16 })},
		{"SINTER_PLAN_DIR", "/tmp/plans", with(func(s *Settings) { s.PlanDir = "/tmp/plans" })},
		{"SINTER_NVRTC", "/opt/nvrtc", with(func(s *Settings) { s.NVRTC = "/opt/nvrtc" })},
		{"SINTER_KERNEL_DIR", "off", with(func(s *Settings) { s.KernelDir = "off" })},
		{"SINTER_POISON", "1", with(func(s *Settings) { s.Poison = true })},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.name] = true
		s, err := parse(func(name string) string {
			if name == tt.name {
				return tt.value
			}
			return ""
		})
		require.NoError(t, err, "%s=%s", tt.name, tt.value)
		assert.Equal(t, tt.want, s, "%s=%s", tt.name, tt.value)
	}
	for _, v := range table {
		assert.True(t, seen[v.Name], "%s is tested", v.Name)
	}
}

func TestBadValuesAreAllReportedAndKeepDefaults(t *testing.T) {
	bad := map[string]string{
		"SINTER_FUSION": "yes", "SINTER_WORKERS": "0", "SINTER_MEMORY_LIMIT": "9999999999999G",
		"SINTER_SEED": "x", "SINTER_POISON": "2",
	}
	s, err := parse(func(name string) string { return bad[name] })
	assert.Equal(t, Settings{Fusion: true, Graphs: true}, s)
	for name, value := range bad {
		assert.ErrorContains(t, err, name+`="`+value+`"`)
	}
	var typed *Error
	assert.ErrorAs(t, err, &typed)
	for _, v := range []string{"1kk", "k", "-1", "1.5G", "1T"} {
		_, err := parse(func(name string) string {
			if name == "SINTER_MEMORY_LIMIT" {
				return v
			}
			return ""
		})
		assert.Error(t, err, v)
	}
}

func TestReadTakesTheProcessEnvironment(t *testing.T) {
	t.Setenv("SINTER_WORKERS", "3")
	s, err := Read()
	require.NoError(t, err)
	assert.Equal(t, 3, s.Workers)
}

func TestTableListsEveryVariable(t *testing.T) {
	text := Table()
	assert.Len(t, strings.Split(strings.TrimSpace(text), "\n"), len(table)+2)
	for _, v := range table {
		assert.Contains(t, text, "| `"+v.Name+"` |")
		assert.NotEmpty(t, v.Doc)
	}
}

func TestTheDocumentHoldsTheTable(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "ENVIRONMENT.md"))
	require.NoError(t, err)
	text := strings.ReplaceAll(string(doc), "\r\n", "\n")
	assert.Contains(t, text, "\n\n"+Table()+"\n", "docs/ENVIRONMENT.md holds another table than\n%s", Table())
}
