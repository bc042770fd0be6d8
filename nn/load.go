package nn

import (
	"context"
	"fmt"
	"strings"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/safetensors"
)

// LoadOption changes how a file is matched to parameters.
type LoadOption func(*loading)

type loading struct {
	rename    func(string) string
	ignore    func(string) bool
	transpose bool
}

// Rename gives, for a parameter's path, the name of its tensor in the file.
// Two parameters may share a tensor. A nil f keeps the paths.
func Rename(f func(path string) string) LoadOption {
	return func(l *loading) {
		if f != nil {
			l.rename = f
		}
	}
}

// IgnoreUnexpected lets tensors of the file that no parameter has be, when f
// says so of their name; a nil f says so of all.
func IgnoreUnexpected(f func(name string) bool) LoadOption {
	return func(l *loading) {
		l.ignore = f
		if f == nil {
			l.ignore = func(string) bool { return true }
		}
	}
}

// TransposeLinear is for files that store the weight of a linear layer as
// [out, in], as PyTorch does: the weight of every [Linear] is transposed.
func TransposeLinear() LoadOption { return func(l *loading) { l.transpose = true } }

// LoadError says which parameters and tensors do not fit one another. Nothing
// was loaded.
type LoadError struct {
	Missing    []string   // paths of parameters that the file does not have
	Unexpected []string   // names of tensors that no parameter has
	Mismatched []Mismatch // parameters whose tensor has another shape or dtype
}

// Mismatch is a parameter and a tensor of the file of another shape or dtype.
type Mismatch struct {
	Path, Name string
	Want       sinter.Shape // the tensor's shape as the parameter needs it in the file
	WantDType  sinter.DType
	Got        sinter.Shape
	GotDType   safetensors.DType
}

// Error formats e as "nn: weights do not fit: missing a, b; unexpected c; d is
// F32[2,3] in the file, needs F32[3,2]".
func (e *LoadError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, "missing "+strings.Join(e.Missing, ", "))
	}
	if len(e.Unexpected) > 0 {
		parts = append(parts, "unexpected "+strings.Join(e.Unexpected, ", "))
	}
	for _, m := range e.Mismatched {
		name := m.Path
		if m.Name != m.Path {
			name += " (" + m.Name + ")"
		}
		parts = append(parts, fmt.Sprintf("%s is %v%v in the file, needs %s%v",
			name, m.GotDType, m.Got, strings.ToUpper(m.WantDType.String()), m.Want))
	}
	return "nn: weights do not fit: " + strings.Join(parts, "; ")
}

// LoadInto sets every parameter of a module, by its path, to the tensor of that
// name in a file. It first compares everything and fails with a *LoadError that
// names all that does not fit, having changed nothing. Nothing is converted.
// Other errors are those of the file and the device, and ctx's; parameters then
// may be loaded in part.
func LoadInto(ctx context.Context, module any, f *safetensors.File, opts ...LoadOption) error {
	l := loading{rename: func(path string) string { return path }}
	for _, o := range opts {
		if o != nil {
			o(&l)
		}
	}
	entries, err := l.match(module, f)
	if err != nil {
		return err
	}
	for _, e := range entries {
		err := error(nil)
		if ctx != nil {
			err = ctx.Err()
		}
		if err == nil {
			err = e.load(ctx, f)
		}
		if err != nil {
			return fmt.Errorf("nn: loading %s: %w", e.path, err)
		}
	}
	return nil
}

// entry is a parameter and the tensor it is set to.
type entry struct {
	param
	name string
}

// match finds the tensor of each parameter.
func (l *loading) match(module any, f *safetensors.File) ([]entry, error) {
	var entries []entry
	var bad LoadError
	used := make(map[string]bool)
	for p := range params(module) {
		p.linear = p.linear && l.transpose && len(p.v.Shape()) == 2
		e := entry{p, l.rename(p.path)}
		t, ok := f.Entry(e.name)
		if !ok {
			bad.Missing = append(bad.Missing, e.path)
			continue
		}
		used[e.name] = true
		want := p.v.Shape()
		if p.linear {
			want[0], want[1] = want[1], want[0]
		}
		if dtype, known := t.DType.IR(); !known || dtype != p.v.DType() || !t.Shape.Equal(want) {
			bad.Mismatched = append(bad.Mismatched, Mismatch{
				Path: e.path, Name: e.name, Want: want, WantDType: p.v.DType(), Got: t.Shape, GotDType: t.DType})
			continue
		}
		entries = append(entries, e)
	}
	for name := range f.All() {
		if !used[name] && (l.ignore == nil || !l.ignore(name)) {
			bad.Unexpected = append(bad.Unexpected, name)
		}
	}
	if len(bad.Missing)+len(bad.Unexpected)+len(bad.Mismatched) > 0 {
		return nil, &bad
	}
	return entries, nil
}

// load reads the tensor and sets the parameter to it. Executing one at a time
// keeps one copy of the file's data at most.
func (e *entry) load(ctx context.Context, f *safetensors.File) error {
	dtype, shape, data, err := f.Bytes(e.name)
	if err != nil {
		return err
	}
	s := sinter.StreamOf(sinter.VarOf(e.v).Runtime().Default())
	t := sinter.FromBytes(s, dtype, data, shape...)
	if e.linear {
		stored := t
		defer stored.Release()
		t = stored.T()
	}
	defer t.Release()
	e.v.Set(t)
	return s.Flush(ctx)
}
