package torchcases

import (
	"encoding/json"
	"math"
	"slices"
)

// exclusions are the cases that are not run, besides those the rules of the
// corpus leave out. The first that matches gives the reason.
var exclusions = []exclusion{
	{pattern: "*:c64:*", reason: complexNumbers},
	{pattern: "*:c128:*", reason: complexNumbers},
	{pattern: "*", when: family("conv"), reason: "convolutions belong to a later milestone"},
	{pattern: "*", when: family("pool"), reason: "pools belong to a later milestone"},
	{pattern: "*", when: family("sample"), reason: "interpolation and grid samples belong to a later milestone"},
	{pattern: "*", when: family("loss"), reason: "losses belong to a later milestone"},
	{pattern: "*", when: family("signal"), reason: "Fourier transforms belong to a later milestone"},
	{pattern: "nn.functional.relu*:[iu]*:*", reason: "activations take floats"},
	{pattern: "linspace:[iu]*:*", when: fractions, reason: "PyTorch makes the ends integers first"},
	{pattern: "gather:*", when: otherRank, reason: "indices have the tensor's rank, also when there are none"},
	{pattern: "unique:*", when: alongAxis, reason: "unique is of elements, not of slices"},
	{pattern: "scatter:bool:*", when: given("reduce", "add"), reason: arithmeticOnBool},
	{pattern: "scatter_add:bool:*", reason: arithmeticOnBool},
	{pattern: "scatter_reduce.*:bool:*", reason: arithmeticOnBool},
	{pattern: "nn.functional.batch_norm:*", when: rank1, reason: "normalising channels needs an axis of them"},
	{pattern: "index_add:bool:*", reason: arithmeticOnBool},
	{pattern: "index_put:bool:*", when: given("accumulate", true), reason: arithmeticOnBool},
	{pattern: "nn.functional.pad.replicate_negative:*", when: cropsAll, reason: "an axis cropped to nothing has no edge to repeat"},
	{pattern: "cat:*", when: joinsNothing, reason: "PyTorch lets an empty tensor of rank 1 join any"},
	{pattern: "logcumsumexp:*", reason: "not in the operation set"},
}

// exceptions are elements that are not compared, besides those the corpus names.
var exceptions = []Exception{
	{Pattern: "digamma:f64:edge0", Action: "exclude", Elements: json.RawMessage(`[24]`),
		Reason: "PyTorch is far off next to a pole"},
	{Pattern: "nn.functional.mish:f64:edge0", Action: "exclude", Elements: json.RawMessage(`[34]`),
		Reason: "PyTorch rounds e^x to 0 where it is subnormal"},
	{Pattern: "lerp:f16:edge0", Action: "exclude", Reason: "a+w*(b-a) with three roundings, as in f32", Elements: json.RawMessage(
		`[33,69,105,141,177,213,249,285,321,360,362,366,368,372,374,378,380,396,398,402,404,408,410,414,416,426,428,429,465,501,537,573]`)},
}

// faults are the cases that are run and known to fail.
var faults = []exclusion{}

const complexNumbers = "there are no complex tensors"

const arithmeticOnBool = "there is no arithmetic on bool"

// given reports whether a keyword argument has a value.
func given(name string, value any) func(c *Case) bool {
	return func(c *Case) bool { return c.Kwargs[name] == value }
}

func family(name string) func(c *Case) bool {
	return func(c *Case) bool { return c.Family == name }
}

// joinsNothing: one of several tensors has shape [0], the others another rank.
func joinsNothing(c *Case) bool {
	empty, other := false, false
	for _, a := range c.tensorArgs() {
		shape := c.file.tensor(a.Name).Shape
		empty = empty || len(shape) == 1 && shape[0] == 0
		other = other || len(shape) != 1
	}
	return empty && other
}

// cropsAll reports whether padding takes as much from an end of an axis as there
// is.
func cropsAll(c *Case) bool {
	shape := c.file.tensor(c.Args[0].(TensorArg).Name).Shape
	for i, n := range c.Args[1].([]any) {
		if -n.(int) >= shape[len(shape)-1-i/2] {
			return true
		}
	}
	return false
}

// fractions reports whether a number among the arguments is none of an integer.
func fractions(c *Case) bool {
	return slices.ContainsFunc(c.Args, func(a any) bool {
		f, ok := a.(float64)
		return ok && f != math.Trunc(f)
	})
}

// otherRank reports whether the indices have another rank than the tensor,
// both not 0.
func otherRank(c *Case) bool {
	x, index := c.file.tensor(c.Args[0].(TensorArg).Name), c.file.tensor(c.Args[2].(TensorArg).Name)
	return len(index.Shape) > 1 && len(index.Shape) != len(x.Shape)
}

// alongAxis reports whether an axis is named.
func alongAxis(c *Case) bool { return c.Kwargs["dim"] != nil }

// rank1: the first argument has one axis.
func rank1(c *Case) bool { return len(c.file.tensor(c.Args[0].(TensorArg).Name).Shape) == 1 }
