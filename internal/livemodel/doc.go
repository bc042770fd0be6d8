// Package livemodel is a small model of how recorded operations are executed,
// and a generator of random programs. It is what the runtime is compared with:
// it shares no code with it, forms no kernels, and tries to be obviously right
// rather than fast. It must not know the runtime, nor any other package of the
// project.
//
// A Program is run step by step on an Engine. Compare drives an engine and a
// Model side by side and reports the first difference: in a value, in an error,
// or, if the engine is an Inspector, in a decision. Which operations share a
// block is the engine's own choice, so the model takes the blocks from the
// engine's drains and works out everything else by these rules:
//
//  1. Recording is lazy. Operations and effects join the stream's queue; shapes
//     are checked at once. (Model.record)
//  2. A read of a pending value, a flush, and the end of an outermost scope
//     drain the whole queue; an inner scope's end and effects do not. A read of
//     what is stored reads memory. (Model.Read, Flush, EndScope)
//  3. A queue that reaches the threshold is cut after a whole number of periods
//     of its recorded sequence; if it has none, where its first eight call
//     sites recur; if they do not, at four times the threshold. (wholePeriods)
//  4. Death is exact and belongs to handles: the end of the scope a handle was
//     taken in, unless kept, or Release. A kept handle moves to the parent
//     scope. A handle the program forgot is alive. (Model.EndScope, kill)
//  5. What is dead, not asked for and needed by nothing computed is not
//     computed; a dead draw of random numbers still counts. (Model.facts, record)
//  6. Asked for are values read, values kept or remembered by their hash and
//     alive, and values the rest of a cut queue uses. (Model.facts)
//  7. A value is stored that is asked for, crosses blocks, is consumed by
//     nothing computed, or is a reduction's result; a dead one is at most
//     temporary. Else it is virtual. (segment.decide)
//  8. A virtual value keeps as recipe the operations of its block that make it,
//     from the block's inputs and the values the block stores, through views of
//     a Var's memory on to the version; if the recipe's distinct inputs, Vars not
//     counted, are more than four times the value's bytes, it is stored instead,
//     unless it is a view that no block computes. Values are decided in recorded
//     order. (segment.recipe, tooLong, throughViews)
//  9. A virtual value that is read or becomes an operand is computed at once
//     from its recipe, before everything queued and apart from it, and is stored
//     from then on; its hash is remembered, and so is that of a value which was
//     stored only because it crossed blocks or its recipe was too long. A stored
//     view of a Var's memory is copied at that time. (Model.demand, runRecipe,
//     copyView)
//  10. The hash is made of kind, attributes without scalars and offsets, call
//     site and the inputs' hashes; inputs from outside the segment are
//     anonymous, versions of Vars made outside it count by the Var.
//     (structuralHash)
//  11. Effects are ordered and make a new version of their Var. When somebody
//     may still ask for the version before, Set leaves it its buffer and takes
//     a fresh one, and SetSlice writes in place and saves what it overwrites, from
//     which the older version is rebuilt. Otherwise both write in place and
//     save nothing. (segment.write, Model.fetch)
//  12. Somebody may still ask when a handle is left, an operation recorded
//     after the effect reads the version, a living value of the segment was made
//     from it, a living recipe or view of an earlier segment starts from it, or
//     an older version that may be asked for is rebuilt from it. (askers)
//  13. In a plan, operands and the earlier readers of what an effect overwrites
//     come first. (segment.describe, Segment.legal)
//  14. Equal segments get equal plans. What was asked for is part of what makes
//     segments equal, so a sequence that records and asks the same each time
//     gets at most two plans and settles by its third drain. (segment.key,
//     Settling)
//  15. An impossible operation, or the use of a dead handle, gives a tensor with
//     an error, and its dependents carry that first cause. An effect of an
//     errored tensor leaves the Var as it was. Reading an errored tensor gives
//     its error; a flush gives the first error nobody was told of, and a
//     scope's end the first of those inside; then all of them count as told.
//     (Model.use, record, report)
//
// The model also keeps storage as the rules have it, computes each block and
// recipe from that storage alone and compares the result with eager evaluation
// (Model.Fault), so that a wrong rule shows even without an engine. Tests break
// the rules one by one to see that.
//
// Values are matrices of f32 computed by operations whose bits are fixed: each
// rounds once, sums and contractions add in their documented order. Functions
// that are only good to some ulps are left out.
package livemodel
