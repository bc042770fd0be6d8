package torchcases

import "slices"

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
	{pattern: "unique:*", when: alongAxis, reason: "unique is of elements, not of slices"},
	{pattern: "scatter:bool:*", when: given("reduce", "add"), reason: arithmeticOnBool},
	{pattern: "scatter_add:bool:*", reason: arithmeticOnBool},
	{pattern: "scatter_reduce.*:bool:*", reason: arithmeticOnBool},
	{pattern: "scatter_reduce.*", when: given("include_self", false), reason: "what is there takes part"},
	{pattern: "index_reduce.*", when: given("include_self", false), reason: "what is there takes part"},
	{pattern: "nn.functional.batch_norm:*", when: rank1, reason: "normalising channels needs an axis of them"},
	{pattern: "index_add:bool:*", reason: arithmeticOnBool},
	{pattern: "index_put:bool:*", when: given("accumulate", true), reason: arithmeticOnBool},
	{pattern: "nn.functional.pad.replicate_negative:*", when: cropsAll, reason: "an axis cropped to nothing has no edge to repeat"},
	{pattern: "cat:*", when: joinsNothing, reason: "PyTorch lets an empty tensor of rank 1 join any"},
	{pattern: "std*:*", when: oddCorrection, reason: "the correction is a whole number from 0"},
	{pattern: "var*:*", when: oddCorrection, reason: "the correction is a whole number from 0"},
	{pattern: "*", when: otherDType, reason: "dtype not there yet"},
	{pattern: "*", when: isPending, reason: "operation not there yet"},
	{pattern: "*", when: noAdapter, reason: "operation not there yet"},
}

// faults are the cases that are run and known to fail.
var faults = []exclusion{}

const complexNumbers = "there are no complex tensors"

// dtypes are those run.
var dtypes = []string{"f32", "bf16", "i64", "bool"}

// otherDType reports whether a case has a tensor of a dtype that is not run.
func otherDType(c *Case) bool {
	for _, a := range c.tensorArgs() {
		if !slices.Contains(dtypes, c.file.tensor(a.Name).DType) {
			return true
		}
	}
	for i := range c.OutName {
		if !slices.Contains(dtypes, c.Out(i).DType) {
			return true
		}
	}
	return false
}

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

// alongAxis reports whether an axis is named.
func alongAxis(c *Case) bool { return c.Kwargs["dim"] != nil }

// rank1: the first argument has one axis.
func rank1(c *Case) bool { return len(c.file.tensor(c.Args[0].(TensorArg).Name).Shape) == 1 }

func oddCorrection(c *Case) bool {
	switch v := c.Kwargs["correction"].(type) {
	case int:
		return v < 0
	case float64:
		return true
	}
	return false
}

func noAdapter(c *Case) bool {
	_, ok := lookup(c)
	return !ok
}

// pending are the operations that can be recorded and not yet be computed.
var pending = []string{
	"acos",
	"acosh",
	"all",
	"argsort",
	"asin",
	"asinh",
	"atan2",
	"bitwise_and",
	"bitwise_left_shift",
	"bitwise_not",
	"bitwise_or",
	"bitwise_right_shift",
	"bitwise_xor",
	"copysign",
	"cosh",
	"cummax",
	"cummin",
	"cumprod",
	"digamma",
	"div.floor_rounding",
	"erfc",
	"erfinv",
	"exp2",
	"floor_divide",
	"fmod",
	"frac",
	"hypot",
	"index_reduce.amax",
	"index_reduce.amin",
	"index_reduce.prod",
	"isfinite",
	"isinf",
	"lgamma",
	"linspace",
	"log10",
	"log2",
	"logsumexp",
	"msort",
	"nonzero",
	"remainder",
	"scatter",
	"scatter_reduce.amax",
	"scatter_reduce.amin",
	"scatter_reduce.prod",
	"sinh",
	"sort",
	"tan",
	"topk",
	"unique",
}

func isPending(c *Case) bool { return slices.Contains(pending, c.Key()) }
