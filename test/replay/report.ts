import type { Call } from "./calls.ts"
import type { Difference } from "./compare.ts"
import { INTENDED, type Intended, isIntended } from "./intended.ts"

interface Row {
  calls: number
  equal: number
  intended: number
  unexpected: number
}

/** Collects the comparisons and prints a table, the intended differences by name, and the unexpected ones by place. */
export class Report {
  private readonly rows = new Map<string, Row>()
  private readonly matched = new Map<string, number>()
  private readonly unexpected: Difference[] = []

  private readonly intended: readonly Intended[]

  constructor(intended: readonly Intended[] = INTENDED) {
    this.intended = intended
  }

  add(surface: Call["surface"], differences: readonly Difference[]): void {
    const row = this.rows.get(surface) ?? { calls: 0, equal: 0, intended: 0, unexpected: 0 }
    this.rows.set(surface, row)
    row.calls++
    let isUnexpected = false
    for (const difference of differences) {
      const entry = this.intended.find((candidate) => isIntended(candidate, difference))
      if (entry) this.matched.set(entry.id, (this.matched.get(entry.id) ?? 0) + 1)
      else {
        this.unexpected.push(difference)
        isUnexpected = true
      }
    }
    if (isUnexpected) row.unexpected++
    else if (differences.length > 0) row.intended++
    else row.equal++
  }

  /**
   * Prints everything and returns the number of failed calls. If all calls were sent to two builds, an entry of the
   * list that matched nothing also fails.
   */
  print(write: (line: string) => void, { isComplete }: { isComplete: boolean }): { passed: number; failed: number } {
    const total: Row = { calls: 0, equal: 0, intended: 0, unexpected: 0 }
    this.printUnexpected(write)
    const stale = isComplete ? this.intended.filter(({ id }) => !this.matched.has(id)) : []
    if (this.intended.length > 0) write("\nIntended differences")
    for (const { id, issue, why } of this.intended)
      write(`  ${String(this.matched.get(id) ?? 0).padStart(6)}  ${id} (${issue}): ${why}`)
    for (const { id } of stale) write(`Stale: "${id}" matched nothing; remove it from test/replay/intended.ts.`)
    write(`\n${"".padEnd(10)}${columns(["calls", "equal", "intended", "unexpected"])}`)
    for (const [surface, row] of this.rows) {
      write(`${surface.padEnd(10)}${columns([row.calls, row.equal, row.intended, row.unexpected])}`)
      for (const name of ["calls", "equal", "intended", "unexpected"] as const) total[name] += row[name]
    }
    write(`${"all".padEnd(10)}${columns([total.calls, total.equal, total.intended, total.unexpected])}\n`)
    return { passed: total.equal + total.intended, failed: total.unexpected + stale.length }
  }

  /** Returns one entry for each place, with its operations and one example. */
  private printUnexpected(write: (line: string) => void): void {
    const groups = Map.groupBy(this.unexpected, ({ surface, path, old, new: next }) =>
      path === "status" || path === "error" ? `${surface}: ${path} ${old} -> ${next}` : `${surface}: ${path}`,
    )
    for (const [place, differences] of [...groups].sort(([, a], [, b]) => b.length - a.length)) {
      const operations = [...new Set(differences.map(({ operation }) => operation))]
      const [example] = differences
      write(`\n${place}: ${differences.length} in ${operations.length} operations`)
      write(`  ${operations.slice(0, 12).join(", ")}${operations.length > 12 ? ", …" : ""}`)
      write(`  e.g. ${example!.operation}, ${example!.state}: ${example!.call.slice(0, 400)}`)
      write(`    old ${shortened(example!.old)}`)
      write(`    new ${shortened(example!.new)}`)
    }
  }
}

function columns(values: readonly (string | number)[]): string {
  return values.map((value) => String(value).padStart(12)).join("")
}

function shortened(value: unknown): string {
  return (JSON.stringify(value) ?? "absent").slice(0, 400)
}
