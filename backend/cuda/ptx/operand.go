package ptx

// OperandKind tells which fields of an Operand count.
type OperandKind uint8

// The kinds of operands.
const (
	Reg      OperandKind = iota // register Reg, negated (!%p) if Neg
	Imm                         // integer in Bits, two's complement of 64 bits
	ImmF32                      // 0f…: the 32 bits of a float in Bits
	ImmF64                      // 0d… or a decimal: the 64 bits of a double in Bits
	Special                     // special register
	Sym                         // address of a variable or function, plus Off
	Addr                        // [base+off]: memory, see Operand
	Vec                         // {a, b, …}: Elems
	LabelRef                    // label Index of the function
	TableRef                    // table Index of the function (brx.idx)
	Discard                     // _
)

// Operand is one operand. An Addr has as its base a register (Base == Reg), a
// symbol (Base == Sym) or nothing (Base == Imm), to which Off is added; Elems are
// the coordinates of a tensor address [%rd1, {%r1, %r2}].
type Operand struct {
	Kind    OperandKind
	Base    OperandKind // of an Addr
	Neg     bool
	Special SpecialReg
	Reg     int32 // register index; of the base for an Addr
	Index   int32 // of a label or table
	Bits    uint64
	Off     int64
	Sym     string // name of a variable or function
	Var     *Decl  // the variable that Sym names, nil for a function
	Elems   []Operand
}

// SpecialReg is a read-only register of the machine.
type SpecialReg uint8

// The special registers that are read.
const (
	NoSpecial SpecialReg = iota
	TidX
	TidY
	TidZ
	NTidX
	NTidY
	NTidZ
	CTAIDX
	CTAIDY
	CTAIDZ
	NCTAIDX
	NCTAIDY
	NCTAIDZ
	LaneID
	WarpID
	NWarpID
	SMID
	NSMID
	GridID
	LaneMaskEq
	LaneMaskLe
	LaneMaskLt
	LaneMaskGe
	LaneMaskGt
	Clock
	ClockHi
	Clock64
	GlobalTimer
	GlobalTimerLo
	GlobalTimerHi
	DynamicSmemSize
	TotalSmemSize
	AggrSmemSize
	ClusterIDX
	ClusterIDY
	ClusterIDZ
	NClusterIDX
	NClusterIDY
	NClusterIDZ
	ClusterCTAIDX
	ClusterCTAIDY
	ClusterCTAIDZ
	ClusterNCTAIDX
	ClusterNCTAIDY
	ClusterNCTAIDZ
	ClusterCTARank
	ClusterNCTARank
	IsExplicitCluster
	EnvReg1
	EnvReg2
	specialCount
)

var specials = [specialCount]struct {
	name string
	typ  Type
}{
	TidX: {"%tid.x", U32}, TidY: {"%tid.y", U32}, TidZ: {"%tid.z", U32},
	NTidX: {"%ntid.x", U32}, NTidY: {"%ntid.y", U32}, NTidZ: {"%ntid.z", U32},
	CTAIDX: {"%ctaid.x", U32}, CTAIDY: {"%ctaid.y", U32}, CTAIDZ: {"%ctaid.z", U32},
	NCTAIDX: {"%nctaid.x", U32}, NCTAIDY: {"%nctaid.y", U32}, NCTAIDZ: {"%nctaid.z", U32},
	LaneID: {"%laneid", U32}, WarpID: {"%warpid", U32}, NWarpID: {"%nwarpid", U32},
	SMID: {"%smid", U32}, NSMID: {"%nsmid", U32}, GridID: {"%gridid", U64},
	LaneMaskEq: {"%lanemask_eq", U32}, LaneMaskLe: {"%lanemask_le", U32}, LaneMaskLt: {"%lanemask_lt", U32},
	LaneMaskGe: {"%lanemask_ge", U32}, LaneMaskGt: {"%lanemask_gt", U32},
	Clock: {"%clock", U32}, ClockHi: {"%clock_hi", U32}, Clock64: {"%clock64", U64},
	GlobalTimer: {"%globaltimer", U64}, GlobalTimerLo: {"%globaltimer_lo", U32}, GlobalTimerHi: {"%globaltimer_hi", U32},
	DynamicSmemSize: {"%dynamic_smem_size", U32}, TotalSmemSize: {"%total_smem_size", U32}, AggrSmemSize: {"%aggr_smem_size", U32},
	ClusterIDX: {"%clusterid.x", U32}, ClusterIDY: {"%clusterid.y", U32}, ClusterIDZ: {"%clusterid.z", U32},
	NClusterIDX: {"%nclusterid.x", U32}, NClusterIDY: {"%nclusterid.y", U32}, NClusterIDZ: {"%nclusterid.z", U32},
	ClusterCTAIDX: {"%cluster_ctaid.x", U32}, ClusterCTAIDY: {"%cluster_ctaid.y", U32}, ClusterCTAIDZ: {"%cluster_ctaid.z", U32},
	ClusterNCTAIDX: {"%cluster_nctaid.x", U32}, ClusterNCTAIDY: {"%cluster_nctaid.y", U32}, ClusterNCTAIDZ: {"%cluster_nctaid.z", U32},
	ClusterCTARank: {"%cluster_ctarank", U32}, ClusterNCTARank: {"%cluster_nctarank", U32},
	IsExplicitCluster: {"%is_explicit_cluster", Pred},
	EnvReg1:           {"%envreg1", B32}, EnvReg2: {"%envreg2", B32},
}

var specialByName = func() map[string]SpecialReg {
	m := make(map[string]SpecialReg, specialCount)
	for s := TidX; s < specialCount; s++ {
		m[specials[s].name] = s
	}
	return m
}()

// String returns the register's name, with the percent sign.
func (s SpecialReg) String() string { return specials[s].name }

// Type returns the register's type: U32, U64, B32 or Pred.
func (s SpecialReg) Type() Type { return specials[s].typ }
