/**
 * Corrections of a fit, by facts in a fixed order. A tree of depth four: each node asks whether a fact is above a bend.
 */
export interface Tree {
  /** The children of node i are 2i + 1 and 2i + 2. The 16 leaves below the 15 questions are numbered from the left. */
  facts: number[]
  bends: number[]
  corrections: number[]
}

/** Formats a tree as one line: questions as fact>bend from the first node on, then corrections. */
export function treeText({ facts, bends, corrections }: Tree): string {
  return `${facts.map((fact, node) => `${fact}>${bends[node]}`).join(" ")} | ${corrections.join(" ")}`
}

export function treeIn(text: string): Tree {
  const [questions = "", corrections = ""] = text.split(" | ")
  const pairs = questions.split(" ").map((question) => question.split(">").map(Number))
  return {
    facts: pairs.map(([fact]) => fact!),
    bends: pairs.map(([, bend]) => bend!),
    corrections: corrections.split(" ").map(Number),
  }
}

/** The residual of an example, with the facts that may explain it. */
interface Residual {
  facts: readonly number[]
  unexplained: number
}

const DEPTH = 4
const QUESTIONS = 2 ** DEPTH - 1
/** Number of trees, and the share of its correction that each contributes. */
const [ROUNDS, RATE] = [120, 0.06]
/** Minimum number of residuals on either side of a question. */
const MIN_ROWS = 20
/** Shrinks the correction of few residuals towards zero, as if there were this many more residuals of zero. */
const DRAWN = 10
/** Errors beyond it count linearly, so that outliers pull no harder, as in ridge.ts. */
const HUBER = 0.15
const BENDS = 31

/**
 * Grows trees, each fitted to the residuals of the trees before it by the facts alone. They capture interactions of
 * facts, which lines with bends cannot.
 *
 * Source: Friedman, Greedy function approximation: a gradient boosting machine, Annals of Statistics 29 (2001), with
 * Huber's loss and medians in the leaves. Depth, rounds and the minimum of a leaf were chosen in five folds of the
 * fitted apps.
 */
export function growTrees(residuals: readonly Residual[]): Tree[] {
  const bends = (residuals[0]?.facts ?? []).map((_, fact) => bendsOf(residuals, fact))
  const bins = residuals.map(({ facts }) => facts.map((value, fact) => binOf(bends[fact]!, value)))
  const remaining = residuals.map((residual) => residual.unexplained)
  return Array.from({ length: ROUNDS }, () => {
    const tree: Tree = { facts: [], bends: [], corrections: [] }
    grow({ tree, bins, remaining, bends }, { node: 0, of: remaining.map((_, i) => i) })
    residuals.forEach(({ facts }, i) => {
      remaining[i]! -= correctionBy(tree, facts)
    })
    return tree
  })
}

/** Returns the sum of all trees' corrections for these facts. */
export function correctionOf(trees: readonly Tree[], facts: readonly number[]): number {
  return trees.reduce((sum, tree) => sum + correctionBy(tree, facts), 0)
}

function correctionBy({ facts, bends, corrections }: Tree, of: readonly number[]): number {
  let node = 0
  while (node < QUESTIONS) node = 2 * node + (of[facts[node]!]! > bends[node]! ? 2 : 1)
  return corrections[node - QUESTIONS]!
}

interface Ground {
  tree: Tree
  bins: readonly number[][]
  remaining: readonly number[]
  bends: readonly number[][]
}

/** A question without any gain is answered the same on both sides. */
function grow(ground: Ground, { node, of }: { node: number; of: number[] }): void {
  const { tree, bins, remaining, bends } = ground
  if (node >= QUESTIONS) {
    const middle = of.length === 0 ? 0 : middleOf(of.map((i) => remaining[i]!))
    tree.corrections[node - QUESTIONS] = rounded((RATE * middle * of.length) / (of.length + DRAWN))
    return
  }
  const { fact, bin, gain } = bestQuestion(ground, of)
  tree.facts[node] = fact
  tree.bends[node] = bends[fact]![bin]!
  const below = (i: number) => bins[i]![fact]! <= bin
  grow(ground, { node: 2 * node + 1, of: gain > 0 ? of.filter(below) : of })
  grow(ground, { node: 2 * node + 2, of: gain > 0 ? of.filter((i) => !below(i)) : of })
}

function bestQuestion({ bins, remaining, bends }: Ground, of: readonly number[]) {
  const pulls = of.map((i) => Math.max(-HUBER, Math.min(HUBER, remaining[i]!)))
  const all = pulls.reduce((sum, pull) => sum + pull, 0)
  let best = { fact: 0, bin: 0, gain: 0 }
  for (let fact = 0; fact < bends.length; fact++) {
    const [sums, counts] = [new Float64Array(BENDS + 1), new Int32Array(BENDS + 1)]
    of.forEach((i, at) => {
      const bin = bins[i]![fact]!
      sums[bin]! += pulls[at]!
      counts[bin]!++
    })
    let [sum, count] = [0, 0]
    for (let bin = 0; bin < bends[fact]!.length; bin++) {
      sum += sums[bin]!
      count += counts[bin]!
      const rest = of.length - count
      if (count < MIN_ROWS || rest < MIN_ROWS) continue
      const gain = sum ** 2 / count + (all - sum) ** 2 / rest - all ** 2 / of.length
      if (gain > best.gain) best = { fact, bin, gain }
    }
  }
  return best
}

/** Returns bends that split the values into equal shares. */
function bendsOf(residuals: readonly Residual[], fact: number): number[] {
  const sorted = residuals.map(({ facts }) => facts[fact]!).sort((a, b) => a - b)
  const at = (share: number) => rounded(sorted[Math.floor(share * sorted.length)]!)
  return [...new Set(Array.from({ length: BENDS }, (_, i) => at((i + 1) / (BENDS + 1))))]
}

function binOf(bends: readonly number[], value: number): number {
  const bin = bends.findIndex((bend) => value <= bend)
  return bin < 0 ? bends.length : bin
}

function middleOf(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** Rounded as in the file. */
function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
