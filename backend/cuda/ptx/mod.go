package ptx

// Mod is a modifier of an opcode that is not a type: a rounding, a comparison, a
// space, an order of memory, a shape.
type Mod uint8

// The modifiers, in groups. A shape such as m16n8k16 is ModShape; its numbers are
// in Opcode.Shape.
const (
	NoMod Mod = iota
	ModShape
	// rounding
	ModRn
	ModRz
	ModRm
	ModRp
	ModRna
	ModRs
	ModRni
	ModRzi
	ModRmi
	ModRpi
	// float behaviour
	ModFtz
	ModNoftz
	ModSat
	ModSatfinite
	ModRelu
	ModApprox
	ModFull
	ModFinite
	ModInfinite
	ModNumber
	ModNotanumber
	ModNormal
	ModSubnormal
	ModNaNMode
	ModXorsign
	ModAbs
	// comparison
	ModEq
	ModNe
	ModLt
	ModLe
	ModGt
	ModGe
	ModLo
	ModLs
	ModHi
	ModHs
	ModEqu
	ModNeu
	ModLtu
	ModLeu
	ModGtu
	ModGeu
	ModNum
	ModNan
	// operations of setp, atom, red, redux, bar.red and set
	ModAnd
	ModOr
	ModXor
	ModAdd
	ModMin
	ModMax
	ModInc
	ModDec
	ModCas
	ModExch
	ModPopc
	// integers
	ModWide
	ModCC
	ModLeft
	ModRight
	ModWrap
	ModClamp
	ModShiftamt
	ModF4e
	ModB4e
	ModRc8
	ModEcl
	ModEcr
	ModRc16
	// spaces
	ModParam
	ModParamEntry
	ModParamFunc
	ModGlobal
	ModLocal
	ModShared
	ModSharedCta
	ModSharedCluster
	ModConst
	ModTo
	// memory order and scope
	ModNC
	ModWeak
	ModRelaxed
	ModAcquire
	ModRelease
	ModAcqRel
	ModSc
	ModVolatile
	ModMmio
	ModCta
	ModCluster
	ModGpu
	ModSys
	ModGl
	// caches
	ModCa
	ModCg
	ModCs
	ModLu
	ModCv
	ModWb
	ModWt
	ModL1
	ModL2
	ModL1EvictNormal
	ModL1EvictUnchanged
	ModL1EvictFirst
	ModL1EvictLast
	ModL1NoAllocate
	ModL2EvictLast
	ModL2EvictNormal
	ModL2EvictFirst
	ModL2CacheHint
	ModL264B
	ModL2128B
	ModL2256B
	// vectors
	ModV2
	ModV4
	ModV8
	// warps and barriers
	ModSync
	ModUp
	ModDown
	ModBfly
	ModIdx
	ModAll
	ModAny
	ModUni
	ModBallot
	ModArrive
	ModRed
	ModWarp
	ModAligned
	ModWait
	ModRead
	// matrices
	ModRow
	ModCol
	ModTrans
	ModX1
	ModX2
	ModX4
	ModLoad
	ModStore
	ModFragA
	ModFragB
	ModFragC
	ModFragD
	ModMmaAsync
	ModCommitGroup
	ModWaitGroup
	ModFence
	ModSp
	// asynchronous copies and mbarrier
	ModAsync
	ModBulk
	ModTensor
	ModDim1
	ModDim2
	ModDim3
	ModDim4
	ModDim5
	ModTile
	ModWaitAll
	ModMbarrierCompleteTxBytes
	ModBulkGroup
	ModMulticastCluster
	ModMbarrier
	ModNoinc
	ModInit
	ModInval
	ModArriveDrop
	ModExpectTx
	ModCompleteTx
	ModTestWait
	ModTryWait
	ModPendingCount
	ModParity
	ModNoComplete
	// fences and the rest
	ModProxy
	ModAlias
	ModMbarrierInit
	ModLaunchDependents
	ModAsyncGeneric
	modCount
)

var modNames = [modCount]string{
	ModRn:                      "rn",
	ModRz:                      "rz",
	ModRm:                      "rm",
	ModRp:                      "rp",
	ModRna:                     "rna",
	ModRs:                      "rs",
	ModRni:                     "rni",
	ModRzi:                     "rzi",
	ModRmi:                     "rmi",
	ModRpi:                     "rpi",
	ModFtz:                     "ftz",
	ModNoftz:                   "noftz",
	ModSat:                     "sat",
	ModSatfinite:               "satfinite",
	ModRelu:                    "relu",
	ModApprox:                  "approx",
	ModFull:                    "full",
	ModFinite:                  "finite",
	ModInfinite:                "infinite",
	ModNumber:                  "number",
	ModNotanumber:              "notanumber",
	ModNormal:                  "normal",
	ModSubnormal:               "subnormal",
	ModNaNMode:                 "NaN",
	ModXorsign:                 "xorsign",
	ModAbs:                     "abs",
	ModEq:                      "eq",
	ModNe:                      "ne",
	ModLt:                      "lt",
	ModLe:                      "le",
	ModGt:                      "gt",
	ModGe:                      "ge",
	ModLo:                      "lo",
	ModLs:                      "ls",
	ModHi:                      "hi",
	ModHs:                      "hs",
	ModEqu:                     "equ",
	ModNeu:                     "neu",
	ModLtu:                     "ltu",
	ModLeu:                     "leu",
	ModGtu:                     "gtu",
	ModGeu:                     "geu",
	ModNum:                     "num",
	ModNan:                     "nan",
	ModAnd:                     "and",
	ModOr:                      "or",
	ModXor:                     "xor",
	ModAdd:                     "add",
	ModMin:                     "min",
	ModMax:                     "max",
	ModInc:                     "inc",
	ModDec:                     "dec",
	ModCas:                     "cas",
	ModExch:                    "exch",
	ModPopc:                    "popc",
	ModWide:                    "wide",
	ModCC:                      "cc",
	ModLeft:                    "l",
	ModRight:                   "r",
	ModWrap:                    "wrap",
	ModClamp:                   "clamp",
	ModShiftamt:                "shiftamt",
	ModF4e:                     "f4e",
	ModB4e:                     "b4e",
	ModRc8:                     "rc8",
	ModEcl:                     "ecl",
	ModEcr:                     "ecr",
	ModRc16:                    "rc16",
	ModParam:                   "param",
	ModParamEntry:              "param::entry",
	ModParamFunc:               "param::func",
	ModGlobal:                  "global",
	ModLocal:                   "local",
	ModShared:                  "shared",
	ModSharedCta:               "shared::cta",
	ModSharedCluster:           "shared::cluster",
	ModConst:                   "const",
	ModTo:                      "to",
	ModNC:                      "nc",
	ModWeak:                    "weak",
	ModRelaxed:                 "relaxed",
	ModAcquire:                 "acquire",
	ModRelease:                 "release",
	ModAcqRel:                  "acq_rel",
	ModSc:                      "sc",
	ModVolatile:                "volatile",
	ModMmio:                    "mmio",
	ModCta:                     "cta",
	ModCluster:                 "cluster",
	ModGpu:                     "gpu",
	ModSys:                     "sys",
	ModGl:                      "gl",
	ModCa:                      "ca",
	ModCg:                      "cg",
	ModCs:                      "cs",
	ModLu:                      "lu",
	ModCv:                      "cv",
	ModWb:                      "wb",
	ModWt:                      "wt",
	ModL1:                      "L1",
	ModL2:                      "L2",
	ModL1EvictNormal:           "L1::evict_normal",
	ModL1EvictUnchanged:        "L1::evict_unchanged",
	ModL1EvictFirst:            "L1::evict_first",
	ModL1EvictLast:             "L1::evict_last",
	ModL1NoAllocate:            "L1::no_allocate",
	ModL2EvictLast:             "L2::evict_last",
	ModL2EvictNormal:           "L2::evict_normal",
	ModL2EvictFirst:            "L2::evict_first",
	ModL2CacheHint:             "L2::cache_hint",
	ModL264B:                   "L2::64B",
	ModL2128B:                  "L2::128B",
	ModL2256B:                  "L2::256B",
	ModV2:                      "v2",
	ModV4:                      "v4",
	ModV8:                      "v8",
	ModSync:                    "sync",
	ModUp:                      "up",
	ModDown:                    "down",
	ModBfly:                    "bfly",
	ModIdx:                     "idx",
	ModAll:                     "all",
	ModAny:                     "any",
	ModUni:                     "uni",
	ModBallot:                  "ballot",
	ModArrive:                  "arrive",
	ModRed:                     "red",
	ModWarp:                    "warp",
	ModAligned:                 "aligned",
	ModWait:                    "wait",
	ModRead:                    "read",
	ModRow:                     "row",
	ModCol:                     "col",
	ModTrans:                   "trans",
	ModX1:                      "x1",
	ModX2:                      "x2",
	ModX4:                      "x4",
	ModLoad:                    "load",
	ModStore:                   "store",
	ModFragA:                   "a",
	ModFragB:                   "b",
	ModFragC:                   "c",
	ModFragD:                   "d",
	ModMmaAsync:                "mma_async",
	ModCommitGroup:             "commit_group",
	ModWaitGroup:               "wait_group",
	ModFence:                   "fence",
	ModSp:                      "sp",
	ModAsync:                   "async",
	ModBulk:                    "bulk",
	ModTensor:                  "tensor",
	ModDim1:                    "1d",
	ModDim2:                    "2d",
	ModDim3:                    "3d",
	ModDim4:                    "4d",
	ModDim5:                    "5d",
	ModTile:                    "tile",
	ModWaitAll:                 "wait_all",
	ModMbarrierCompleteTxBytes: "mbarrier::complete_tx::bytes",
	ModBulkGroup:               "bulk_group",
	ModMulticastCluster:        "multicast::cluster",
	ModMbarrier:                "mbarrier",
	ModNoinc:                   "noinc",
	ModInit:                    "init",
	ModInval:                   "inval",
	ModArriveDrop:              "arrive_drop",
	ModExpectTx:                "expect_tx",
	ModCompleteTx:              "complete_tx",
	ModTestWait:                "test_wait",
	ModTryWait:                 "try_wait",
	ModPendingCount:            "pending_count",
	ModParity:                  "parity",
	ModNoComplete:              "noComplete",
	ModProxy:                   "proxy",
	ModAlias:                   "alias",
	ModMbarrierInit:            "mbarrier_init",
	ModLaunchDependents:        "launch_dependents",
	ModAsyncGeneric:            "async::generic",
}

var modByName = func() map[string]Mod {
	m := make(map[string]Mod, modCount)
	for mod := ModShape + 1; mod < modCount; mod++ {
		m[modNames[mod]] = mod
	}
	return m
}()

// String returns the modifier as PTX writes it, without the dot; a shape has none.
func (m Mod) String() string { return modNames[m] }
