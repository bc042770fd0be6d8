package ir

// indexRows are the kinds that read at indices, and the effects on a Var.
var indexRows = rows{
	Select:    {Name: "Select", Class: ClassGather, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Attrs: HasAxes, Infer: inferSelect, Doc: "the slices of an axis that a list of indices names"},
	Gather:    {Name: "Gather", Class: ClassGather, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Attrs: HasAxes, Infer: inferGather, Doc: "for each element of indices, the element of x there along an axis"},
	Embedding: {Name: "Embedding", Class: ClassGather, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Infer: inferEmbedding, Doc: "rows of a weight matrix at indices of any shape"},

	Set:        {Name: "Set", Class: ClassEffect, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Infer: inferSet, Doc: "a Var's new value"},
	SetSlice:   {Name: "SetSlice", Class: ClassEffect, MinIn: 2, MaxIn: 2, DTypes: AnyDType, Attrs: HasRanges, Infer: inferSetSlice, Doc: "a Var with a slice replaced"},
	SetSelect:  {Name: "SetSelect", Class: ClassEffect, MinIn: 3, MaxIn: 3, DTypes: AnyDType, Attrs: HasAxes, Infer: inferSetSelect, Doc: "a Var with the slices at indices replaced, the last of equal indices winning"},
	ScatterAdd: {Name: "ScatterAdd", Class: ClassEffect, MinIn: 3, MaxIn: 3, DTypes: Numbers, Attrs: HasAxes, Infer: inferSetSelect, Doc: "a Var with slices added at indices, in logical order"},
}
