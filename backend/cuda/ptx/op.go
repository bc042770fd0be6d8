package ptx

// Op is the mnemonic of an instruction: what stands before the first dot.
type Op uint8

// The mnemonics.
const (
	NoOp Op = iota
	OpAbs
	OpActivemask
	OpAdd
	OpAddc
	OpAnd
	OpApplypriority
	OpAtom
	OpBar
	OpBarrier
	OpBfe
	OpBfi
	OpBfind
	OpBmsk
	OpBra
	OpBrev
	OpBrkpt
	OpBrx
	OpCall
	OpClz
	OpCopysign
	OpCos
	OpCp
	OpCvt
	OpCvta
	OpDiscard
	OpDiv
	OpDp2a
	OpDp4a
	OpElect
	OpEx2
	OpExit
	OpFence
	OpFma
	OpFns
	OpGetctarank
	OpGriddepcontrol
	OpIsspacep
	OpLd
	OpLdmatrix
	OpLdu
	OpLg2
	OpLop3
	OpMad
	OpMad24
	OpMadc
	OpMapa
	OpMatch
	OpMax
	OpMbarrier
	OpMembar
	OpMin
	OpMma
	OpMov
	OpMovmatrix
	OpMul
	OpMul24
	OpNanosleep
	OpNeg
	OpNot
	OpOr
	OpPmevent
	OpPopc
	OpPrefetch
	OpPrefetchu
	OpPrmt
	OpRcp
	OpRed
	OpRedux
	OpRem
	OpRet
	OpRsqrt
	OpSad
	OpSelp
	OpSet
	OpSetmaxnreg
	OpSetp
	OpShf
	OpShfl
	OpShl
	OpShr
	OpSin
	OpSlct
	OpSqrt
	OpSt
	OpStmatrix
	OpSub
	OpSubc
	OpSzext
	OpTanh
	OpTestp
	OpTrap
	OpVote
	OpWgmma
	OpWmma
	OpXor
	opCount
)

var opNames = [opCount]string{
	OpAbs:            "abs",
	OpActivemask:     "activemask",
	OpAdd:            "add",
	OpAddc:           "addc",
	OpAnd:            "and",
	OpApplypriority:  "applypriority",
	OpAtom:           "atom",
	OpBar:            "bar",
	OpBarrier:        "barrier",
	OpBfe:            "bfe",
	OpBfi:            "bfi",
	OpBfind:          "bfind",
	OpBmsk:           "bmsk",
	OpBra:            "bra",
	OpBrev:           "brev",
	OpBrkpt:          "brkpt",
	OpBrx:            "brx",
	OpCall:           "call",
	OpClz:            "clz",
	OpCopysign:       "copysign",
	OpCos:            "cos",
	OpCp:             "cp",
	OpCvt:            "cvt",
	OpCvta:           "cvta",
	OpDiscard:        "discard",
	OpDiv:            "div",
	OpDp2a:           "dp2a",
	OpDp4a:           "dp4a",
	OpElect:          "elect",
	OpEx2:            "ex2",
	OpExit:           "exit",
	OpFence:          "fence",
	OpFma:            "fma",
	OpFns:            "fns",
	OpGetctarank:     "getctarank",
	OpGriddepcontrol: "griddepcontrol",
	OpIsspacep:       "isspacep",
	OpLd:             "ld",
	OpLdmatrix:       "ldmatrix",
	OpLdu:            "ldu",
	OpLg2:            "lg2",
	OpLop3:           "lop3",
	OpMad:            "mad",
	OpMad24:          "mad24",
	OpMadc:           "madc",
	OpMapa:           "mapa",
	OpMatch:          "match",
	OpMax:            "max",
	OpMbarrier:       "mbarrier",
	OpMembar:         "membar",
	OpMin:            "min",
	OpMma:            "mma",
	OpMov:            "mov",
	OpMovmatrix:      "movmatrix",
	OpMul:            "mul",
	OpMul24:          "mul24",
	OpNanosleep:      "nanosleep",
	OpNeg:            "neg",
	OpNot:            "not",
	OpOr:             "or",
	OpPmevent:        "pmevent",
	OpPopc:           "popc",
	OpPrefetch:       "prefetch",
	OpPrefetchu:      "prefetchu",
	OpPrmt:           "prmt",
	OpRcp:            "rcp",
	OpRed:            "red",
	OpRedux:          "redux",
	OpRem:            "rem",
	OpRet:            "ret",
	OpRsqrt:          "rsqrt",
	OpSad:            "sad",
	OpSelp:           "selp",
	OpSet:            "set",
	OpSetmaxnreg:     "setmaxnreg",
	OpSetp:           "setp",
	OpShf:            "shf",
	OpShfl:           "shfl",
	OpShl:            "shl",
	OpShr:            "shr",
	OpSin:            "sin",
	OpSlct:           "slct",
	OpSqrt:           "sqrt",
	OpSt:             "st",
	OpStmatrix:       "stmatrix",
	OpSub:            "sub",
	OpSubc:           "subc",
	OpSzext:          "szext",
	OpTanh:           "tanh",
	OpTestp:          "testp",
	OpTrap:           "trap",
	OpVote:           "vote",
	OpWgmma:          "wgmma",
	OpWmma:           "wmma",
	OpXor:            "xor",
}

var opByName = func() map[string]Op {
	m := make(map[string]Op, opCount)
	for op := NoOp + 1; op < opCount; op++ {
		m[opNames[op]] = op
	}
	return m
}()

// String returns the mnemonic.
func (o Op) String() string { return opNames[o] }
