// The short form of test/bench/heavy-import.ts: a server, calls and an import as three processes. Only in long runs.
import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { heavyImport } from "../bench/heavy-load.ts"
import { long } from "../long.ts"
import { removeFolders } from "./child.ts"

setDefaultTimeout(240_000)

afterAll(removeFolders)

const SHORT = { amount: { reviews: 600, lists: 12, charts: 6 }, perSecond: 10, keywords: 40 }

long("during an import through a running server, every call succeeds and is only moderately slower", async () => {
  const { calls, before, imported, reopened } = await heavyImport(SHORT)
  expect(imported).toMatchObject({ read: 19, recorded: 19, bad: [] })
  expect(calls.filter(({ status }) => status !== 200)).toEqual([])
  expect(reopened).toBe(0)
  const [meanBefore, meanDuring] = [mean(before), mean(calls)]
  process.stdout.write(
    `a call took ${meanBefore.toFixed(1)} ms on average before, and ${meanDuring.toFixed(1)} ms during the import\n`,
  )
  // a busy machine slows calls before and during the import, but without priority each call would wait for a
  // transaction of the import
  expect(meanDuring).toBeLessThan(10 * meanBefore + 50)
})

function mean(calls: readonly { ms: number }[]): number {
  return calls.reduce((sum, { ms }) => sum + ms, 0) / calls.length
}
