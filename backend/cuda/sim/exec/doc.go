// Package exec interprets PTX: warps of 32 lanes, blocks side by side, with
// checks of every access and exact counts of what a kernel did.
//
// It must not know kernels, streams or the driver: a function, a grid, arguments
// and memory come in, reports and counts go out.
//
// # Model
//
// Load decodes a module once: every operand becomes a register number, constants
// and special registers are registers filled beforehand, so that an instruction is
// one Go function with a loop over the lanes. A warp's lanes that a branch parted
// are groups; the group with the lowest program counter runs, and groups that meet
// become one. Warps of a block run in turn, each until all its groups wait. So one
// launch with one worker always does the same in the same order.
//
// As on devices since compute capability 7.0, lanes are scheduled on their own: a
// warp-wide instruction waits for the lanes that its membermask names, a barrier
// with .aligned for the lanes of the warp, a barrier of the block for all threads
// that have not exited. Who waits for ever is reported, with all that wait.
//
// Memory is sequentially consistent; fences cost nothing and change nothing, and
// what only they would put right is not found. Races are looked for in shared
// memory, by vector clocks of warps (race.go): of lanes of one warp too, which are
// ordered by warp-wide instructions alone. Asynchronous copies write when they are
// waited for, not before.
//
// Arithmetic is that of package num: correctly rounded where PTX says so; the
// approximations, and the order of sums in matrix instructions, differ from a
// device's within the bounds that num states.
//
// # What it does not execute
//
// Clusters of more than one block, tensor and bulk copies, wgmma and tcgen05,
// textures, recursion and system calls such as vprintf: Load refuses them.
package exec
