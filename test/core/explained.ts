import type { Sql } from "../../src/database/types.ts"

/** The work of a statement. Unlike its duration, it does not depend on a busy machine. */
export interface Work {
  statement: string
  /** Number of rows that all steps of the plan returned or discarded. */
  rows: number
  plan: Step
}

export interface Step {
  "Node Type": string
  "Relation Name"?: string
  "Index Name"?: string
  "Actual Rows": number
  "Actual Loops": number
  Plans?: Step[]
}

/** Returns an `sql` that explains each awaited statement once more and adds its work to the total. */
export function explainEach(sql: Sql, works: Work[]): Sql {
  const template = (strings: TemplateStringsArray, ...values: unknown[]) => {
    const query = () => sql(strings, ...(values as string[]))
    const run = async () => {
      const [row] = await sql<{ "QUERY PLAN": [{ Plan: Step }] }[]>`
        explain (analyze, costs off, timing off, format json) ${query()}`
      const plan = row!["QUERY PLAN"][0].Plan
      works.push({ statement: strings.join("…").trim(), rows: rowsOf(plan), plan })
      return await query()
    }
    const awaited = { value: (...handlers: Parameters<Promise<unknown>["then"]>) => run().then(...handlers) }
    // biome-ignore lint/suspicious/noThenProperty: a fragment of another statement, by contrast, is never awaited
    return Object.defineProperty(query(), "then", awaited)
  }
  const runExplained = (first: TemplateStringsArray, ...values: unknown[]) =>
    Array.isArray(first) && "raw" in first ? template(first, ...values) : sql(first as never, ...(values as never[]))
  const { json, array, unsafe, options } = sql
  return Object.assign(runExplained, { json, array, unsafe, options }) as unknown as Sql
}

/** Lists how the statements read a table: the nodes in plan order, with the rows returned or discarded. */
export function readsOf(works: readonly Work[], table: string): { node: string; rows: number }[] {
  const stepsOf = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(stepsOf)]
  return works
    .flatMap(({ plan }) => stepsOf(plan))
    .filter((step) => step["Relation Name"] === table)
    .map((step) => ({ node: step["Node Type"], rows: rowsOf({ ...step, Plans: [] }) }))
}

const THROWN_AWAY = ["Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck"]

/** PostgreSQL scans a table of about ten pages as a whole rather than by index, at the same cost. */
const SMALL = 600

function rowsOf(step: Step): number {
  const counts = step as unknown as Record<string, number | undefined>
  const thrownAway = THROWN_AWAY.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  const actualRows = step["Actual Rows"]
  const each =
    step["Node Type"] === "Seq Scan" && actualRows + thrownAway <= SMALL ? actualRows : actualRows + thrownAway
  // rows that an index finds are counted at the node that reads them
  const children = (step.Plans ?? []).filter(
    (inner) => inner["Node Type"] !== "Bitmap Index Scan" || step["Node Type"] === "BitmapAnd",
  )
  return children.reduce((sum, inner) => sum + rowsOf(inner), each * step["Actual Loops"])
}
