import { readFileSync } from "node:fs"
import { treeText } from "../market/formulas/installs/boosted-trees.ts"
import type { LevelFit } from "../market/formulas/installs/level-fit.ts"
import { appsTwice, isLeftOut, type PlayApp, ratedOnce } from "../market/formulas/play-apps.ts"

const COLUMNS = "set,scraped,app_id,category,rating,ratings,installs,free,price_usd,ads,iap,released,updated".split(",")

/** Rows of the tests: held-out apps with at least ten ratings, and both rows of apps that occur twice. */
export function cutOf(path: string, apps: readonly PlayApp[]): string {
  const selectedIds = new Set([...ratedOnce(apps).filter(isLeftOut), ...appsTwice(apps)].map(({ id }) => id))
  const [head, ...lines] = readFileSync(path, "utf8").trimEnd().split(/\r?\n/)
  const names = (head as string).split(",")
  const at = COLUMNS.map((name) => names.indexOf(name))
  const rows = lines
    .map((line) => line.split(","))
    .filter((row) => selectedIds.has(row[names.indexOf("app_id")] as string))
  return `${[COLUMNS, ...rows.map((row) => at.map((column) => row[column]))].map((row) => row.join(",")).join("\n")}\n`
}

/** Returns the text of test/market/formulas/installs/level-fit.ts. */
export function levelFitFile({ intercept, features, trees }: LevelFit, apps: number): string {
  const lines = Object.entries(features).map(
    ([name, [mean, weight]]) => `    ${JSON.stringify(name)}: [${digits(mean)}, ${digits(weight)}],`,
  )
  const treeLines = trees.map((tree) => `    ${JSON.stringify(treeText(tree))},`)
  return `import { type Tree, treeIn } from "./boosted-trees.ts"

/** A fit in the stored form, by feature name. */
export interface LevelFit {
  intercept: number
  /** For each feature: its mean among the examples and its weight. */
  features: Record<string, readonly [mean: number, weight: number]>
  trees: readonly Tree[]
}

/** Output of \`bun test/bench/estimates.ts fit\`: ${apps.toLocaleString("en")} apps of July 2020 and June 2021. */
export const LEVEL_FIT: LevelFit = {
  intercept: ${digits(intercept)},
  features: {
${lines.join("\n")}
  },
  trees: [
${treeLines.join("\n")}
  ].map(treeIn),
}
`
}

function digits(value: number): string {
  return String(Number(value.toPrecision(5)))
}
