package ir

// indexRows are the kinds that read at indices, and the effects on a Var.
var indexRows = rows{
	Select:    {Name: "Select", Class: ClassGather, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Attrs: HasAxes, Infer: inferSelect, Doc: "the slices of an axis that a list of indices names"},
	Gather:    {Name: "Gather", Class: ClassGather, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Attrs: HasAxes, Infer: inferGather, Doc: "for each element of indices, the element of x there along an axis"},
	Embedding: {Name: "Embedding", Class: ClassGather, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Infer: inferEmbedding, Doc: "rows of a weight matrix at indices of any shape"},
	GatherND:  {Name: "GatherND", Class: ClassGather, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Infer: inferGatherND, Doc: "for each list along the last axis of indices, the element or part of x there"},

	SliceAssign:  {Name: "SliceAssign", Class: ClassMove, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Attrs: HasRanges, Infer: inferSetSlice, Doc: "x with a slice replaced"},
	SelectAssign: {Name: "SelectAssign", Class: ClassScatter, MinIn: 3, MaxIn: 3, DTypes: AnyDType, Attrs: HasAxes | HasMode, Infer: inferSelectAssign, Doc: "x with the slices of an axis at indices replaced by or combined with those of a value, in logical order"},
	Scatter:      {Name: "Scatter", Class: ClassScatter, MinIn: 3, MaxIn: 3, DTypes: AnyDType, Attrs: HasAxes | HasMode, Infer: inferScatter, Doc: "x with, for each element of indices, the element there along an axis replaced by or combined with the value's, in logical order"},
	ScatterND:    {Name: "ScatterND", Class: ClassScatter, MinIn: 3, MaxIn: 3, DTypes: AnyDType, Attrs: HasMode, Infer: inferScatterND, Doc: "x with, for each list along the last axis of indices, the element or part there replaced by or combined with the value's, in logical order"},

	Set:        {Name: "Set", Class: ClassEffect, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Infer: inferSet, Doc: "a Var's new value"},
	SetSlice:   {Name: "SetSlice", Class: ClassEffect, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Attrs: HasRanges, Infer: inferSetSlice, Doc: "a Var with a slice replaced"},
	SetSelect:  {Name: "SetSelect", Class: ClassEffect, MinIn: 3, MaxIn: 3, DTypes: AnyDType, Attrs: HasAxes, Infer: inferSetSelect, Doc: "a Var with the slices at indices replaced, the last of equal indices winning"},
	ScatterAdd: {Name: "ScatterAdd", Class: ClassEffect, MinIn: 3, MaxIn: 3, DTypes: Numbers, Attrs: HasAxes, Infer: inferSetSelect, Doc: "a Var with slices added at indices, in logical order"},
}
