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
	{pattern: "linspace:[iu]*:*", reason: "an integer range has an integer step"},
	{pattern: "index_add:bool:*", reason: arithmeticOnBool},
	{pattern: "index_put:bool:*", when: given("accumulate", true), reason: arithmeticOnBool},
	{pattern: "cat:*", when: joinsNothing, reason: "PyTorch lets an empty tensor of rank 1 join any"},
	{pattern: "std*:*", when: oddCorrection, reason: "the correction is a whole number from 0"},
	{pattern: "var*:*", when: oddCorrection, reason: "the correction is a whole number from 0"},
	{pattern: "*", when: otherDType, reason: "dtype not there yet"},
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
