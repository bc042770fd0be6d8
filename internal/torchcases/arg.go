package torchcases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// The arguments of a call that JSON has no value for.
type (
	// TensorArg is a tensor of the corpus, as PyTorch saw it.
	TensorArg struct {
		Name    string
		Strides []int // in elements; nil: contiguous
		Complex bool  // stored as real pairs
	}
	// DTypeArg is the name of a dtype, such as "f32".
	DTypeArg string
	// SliceArg is Python's slice(start, stop, step); nil is None.
	SliceArg [3]*int
	// EllipsisArg is Python's "...".
	EllipsisArg struct{}
)

// decode reads the arguments.
func (c *Case) decode() error {
	var args []json.RawMessage
	if err := json.Unmarshal(c.RawArgs, &args); err != nil {
		return err
	}
	var err error
	if c.Args, err = decodeList(args); err != nil {
		return err
	}
	var kw map[string]json.RawMessage
	if err := json.Unmarshal(c.RawKw, &kw); err != nil {
		return err
	}
	c.Kwargs = make(map[string]any, len(kw))
	for name, raw := range kw {
		if c.Kwargs[name], err = decodeArg(raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func decodeList(raw []json.RawMessage) ([]any, error) {
	out := make([]any, len(raw))
	for i, r := range raw {
		var err error
		if out[i], err = decodeArg(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeArg returns nil, bool, int, float64, string, []any, TensorArg,
// DTypeArg, SliceArg or EllipsisArg. A number without a point is an int.
func decodeArg(raw json.RawMessage) (any, error) {
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		return decodeList(list)
	case '{':
		return decodeObject(raw)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if bytes.ContainsAny(raw, ".eE") {
			var f float64
			err := json.Unmarshal(raw, &f)
			return f, err
		}
		var i int
		err := json.Unmarshal(raw, &i)
		return i, err
	}
	var v any // null, bool or string
	err := json.Unmarshal(raw, &v)
	return v, err
}

func decodeObject(raw json.RawMessage) (any, error) {
	var o struct {
		Tensor   *string
		Strides  []int
		Complex  bool
		DType    *string
		Float    *string
		Slice    *SliceArg
		Ellipsis bool
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case o.Tensor != nil:
		return TensorArg{Name: *o.Tensor, Strides: o.Strides, Complex: o.Complex}, nil
	case o.DType != nil:
		return DTypeArg(*o.DType), nil
	case o.Slice != nil:
		return *o.Slice, nil
	case o.Ellipsis:
		return EllipsisArg{}, nil
	case o.Float != nil:
		switch strings.TrimPrefix(*o.Float, "-") {
		case "nan":
			return math.NaN(), nil
		case "inf":
			sign := 1
			if strings.HasPrefix(*o.Float, "-") {
				sign = -1
			}
			return math.Inf(sign), nil
		}
	}
	return nil, fmt.Errorf("unknown argument %s", raw)
}

// tensorArgs returns every tensor among the arguments of a call.
func (c *Case) tensorArgs() []TensorArg {
	var out []TensorArg
	var walk func(a any)
	walk = func(a any) {
		switch a := a.(type) {
		case TensorArg:
			out = append(out, a)
		case []any:
			for _, x := range a {
				walk(x)
			}
		}
	}
	walk(c.Args)
	for _, a := range c.Kwargs {
		walk(a)
	}
	return out
}
