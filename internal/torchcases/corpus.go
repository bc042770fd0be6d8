package torchcases

import (
	"archive/zip"
	"bytes"
	_ "embed" // the corpus
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sinter-ml/sinter/safetensors"
)

//go:embed testdata/torch-ops.zip
var archive []byte

// Case is one call of a PyTorch operation and what it returned.
type Case struct {
	Family  string          `json:"-"`
	Name    string          `json:"name"` // op[.variant]:dtype:index
	Op      string          `json:"op"`
	Variant string          `json:"variant"`
	DType   string          `json:"dtype"` // of the samples; single arguments may differ
	RawArgs json.RawMessage `json:"args"`
	RawKw   json.RawMessage `json:"kwargs"`
	OutName []string        `json:"out"`
	RefName []string        `json:"ref"` // the same call in float64, "" where there is none
	RawErr  []*[2]float64   `json:"err"` // of PyTorch's output: in ulps, and absolute

	// Mutated is the arguments changed in place, path to name of the value after
	// the call. By path, they come after the outputs in OutName.
	Mutated map[string]string `json:"mutated"`

	Args   []any          `json:"-"` // decoded, see decodeArg
	Kwargs map[string]any `json:"-"`

	file *tensorFile
}

// Key returns the name of the operation with its variant.
func (c *Case) Key() string {
	if c.Variant == "" {
		return c.Op
	}
	return c.Op + "." + c.Variant
}

// Out returns what PyTorch returned as output i.
func (c *Case) Out(i int) Host { return c.file.tensor(c.OutName[i]) }

// Ref returns output i as evaluated in float64 on the same inputs, not rounded,
// and whether there is such a value.
func (c *Case) Ref(i int) (Host, bool) {
	if i >= len(c.RefName) || c.RefName[i] == "" {
		return Host{}, false
	}
	return c.file.tensor(c.RefName[i]), true
}

// differs stands for an error where a NaN or an infinity is something else.
const differs = 1e9

// Err returns the largest error of PyTorch's output i in ulps of its dtype, 0
// where it is not known.
func (c *Case) Err(i int) float64 {
	if i >= len(c.RawErr) || c.RawErr[i] == nil || c.RawErr[i][0] >= differs {
		return 0
	}
	return c.RawErr[i][0]
}

// tensorFile is the tensors of a family.
type tensorFile struct {
	*safetensors.File
	raw []byte
}

func (f *tensorFile) tensor(name string) Host {
	e, ok := f.Entry(name)
	if !ok {
		panic(callError(fmt.Sprintf("no tensor %q in the corpus", name)))
	}
	return Host{DType: strings.ToLower(e.DType.String()), Shape: e.Shape, Data: f.raw[e.Offset : e.Offset+e.Size]}
}

// Corpus is the cases and the exceptions to them.
type Corpus struct {
	Cases      []*Case
	Exceptions []Exception
}

// Load returns the corpus. It is read once and must not be changed.
var Load = sync.OnceValues(func() (*Corpus, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	out := new(Corpus)
	if err := json.Unmarshal(files["policy-exceptions.json"], &out.Exceptions); err != nil {
		return nil, fmt.Errorf("policy-exceptions.json: %w", err)
	}
	out.Exceptions = append(out.Exceptions, exceptions...)
	for _, f := range z.File {
		family, ok := strings.CutSuffix(path.Base(f.Name), ".safetensors")
		if !ok {
			continue
		}
		cases, err := loadFamily(family, files[family+".json"], files[f.Name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", family, err)
		}
		out.Cases = append(out.Cases, cases...)
	}
	return out, nil
})

func loadFamily(family string, text, tensors []byte) ([]*Case, error) {
	file, err := safetensors.Parse(tensors)
	if err != nil {
		return nil, err
	}
	var cases []*Case
	if err := json.Unmarshal(text, &cases); err != nil {
		return nil, err
	}
	for _, c := range cases {
		c.Family, c.file = family, &tensorFile{file, tensors}
		if err := c.decode(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		for _, path := range slices.Sorted(maps.Keys(c.Mutated)) {
			c.OutName = append(c.OutName, c.Mutated[path])
		}
	}
	return cases, nil
}
