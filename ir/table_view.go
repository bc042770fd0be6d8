package ir

// sourceRows are the kinds without operands.
var sourceRows = rows{
	Full:      {Name: "Full", Class: ClassCreate, DTypes: AnyDType, Attrs: HasShape | HasDType, MinScalars: 1, MaxScalars: 1, Infer: inferFull, Doc: "one value everywhere"},
	Arange:    {Name: "Arange", Class: ClassCreate, DTypes: Numbers, Attrs: HasShape | HasDType, MinScalars: 2, MaxScalars: 2, Infer: inferArange, Doc: "start + i·step, in f64 for floats, rounded once"},
	Uniform:   {Name: "Uniform", Class: ClassRandom, DTypes: Floats, Attrs: HasShape | HasDType, MinScalars: 4, MaxScalars: 4, Infer: inferRandom, Doc: "uniform in [low, high)"},
	Normal:    {Name: "Normal", Class: ClassRandom, DTypes: Floats, Attrs: HasShape | HasDType, MinScalars: 4, MaxScalars: 4, Infer: inferRandom, Doc: "normal with the given mean and standard deviation"},
	Bernoulli: {Name: "Bernoulli", Class: ClassRandom, DTypes: OnlyBool, Attrs: HasShape | HasDType, MinScalars: 3, MaxScalars: 3, Infer: inferRandom, Doc: "true with the given probability"},
	RandInt:   {Name: "RandInt", Class: ClassRandom, DTypes: Ints, Attrs: HasShape | HasDType, MinScalars: 4, MaxScalars: 4, Infer: inferRandom, Doc: "integers uniform in [low, high)"},
}

// viewRows are the kinds that only say where elements lie, and those that lay
// whole operands out anew.
var viewRows = rows{
	Reshape:  {Name: "Reshape", Class: ClassView, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasShape, Infer: inferReshape, Doc: "the same elements in row-major order under another shape"},
	Permute:  {Name: "Permute", Class: ClassView, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasAxes, Infer: inferPermute, Doc: "axes reordered: output axis i is input axis Axes[i]"},
	Expand:   {Name: "Expand", Class: ClassView, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasShape, Infer: inferExpand, Doc: "broadcast to a shape"},
	Slice:    {Name: "Slice", Class: ClassView, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasRanges, Infer: inferSlice, Doc: "a range of each axis, with steps of either sign"},
	Flip:     {Name: "Flip", Class: ClassView, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasAxes, Infer: inferFlip, Doc: "elements in reverse order along the axes"},
	Unfold:   {Name: "Unfold", Class: ClassView, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasAxes | HasInts, Infer: inferUnfold, Doc: "windows of an axis, whose elements become a last axis"},
	Diagonal: {Name: "Diagonal", Class: ClassView, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasAxes | HasN, Infer: inferDiagonal, Doc: "the elements whose coordinates along two axes differ by an offset, as a last axis"},

	Cat:    {Name: "Cat", Class: ClassMove, MinIn: 1, MaxIn: -1, DTypes: AnyDType, Attrs: HasAxes, Infer: inferCat, Doc: "operands one after another along an axis"},
	Repeat: {Name: "Repeat", Class: ClassMove, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasInts, Infer: inferRepeat, Doc: "the whole tensor repeated along each axis"},
	Pad:    {Name: "Pad", Class: ClassMove, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasInts, MinScalars: 1, MaxScalars: 1, Infer: inferPad, Doc: "a border of one value; negative widths crop"},
}
