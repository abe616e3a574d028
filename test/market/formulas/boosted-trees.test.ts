import { expect, test } from "bun:test"
import { slow } from "../../long.ts"
import { randomFrom } from "./calibration.ts"
import { correctionOf, growTrees, treeIn, treeText } from "./installs/boosted-trees.ts"

/** Two facts that are informative only together. */
const residualOf = (a: number, b: number) => (a > 0.5 !== b > 0.5 ? 0.3 : -0.3)

function residuals(count: number, seed: number) {
  const random = randomFrom(seed)
  return Array.from({ length: count }, () => {
    const facts = [random(), random(), random()]
    return { facts, unexplained: residualOf(facts[0]!, facts[1]!) + 0.2 * (random() - 0.5) }
  })
}

slow("trees learn facts that are informative only in combination", () => {
  const trees = growTrees(residuals(2_000, 3))
  for (const [a, b] of [
    [0.2, 0.2],
    [0.8, 0.2],
    [0.2, 0.8],
    [0.8, 0.8],
  ] as const)
    expect(Math.abs(correctionOf(trees, [a, b, 0.5]) - residualOf(a, b))).toBeLessThan(0.1)
})

test("groups that are too small are not split", () => {
  const trees = growTrees(residuals(30, 4))
  const corrections = residuals(50, 5).map(({ facts }) => correctionOf(trees, facts))
  expect(new Set(corrections).size).toBe(1)
})

test("a tree is unchanged after it was written as a line and read back", () => {
  const trees = growTrees(residuals(500, 6))
  expect(trees.map((tree) => treeIn(treeText(tree)))).toEqual(trees)
})
