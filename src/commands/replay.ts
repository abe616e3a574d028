import type { SourceName } from "../lib/upstreams.ts"
import { openAllBodies } from "../measuring/raw-bodies.ts"
import type { Source } from "../measuring/source.ts"
import { SOURCES } from "../sources.ts"
import { type Command, type Invocation, WrongUse } from "./cli/command.ts"
import { dayGiven } from "./cli/day.ts"
import { printable, show, table } from "./cli/show.ts"
import { assertMade } from "./cli/whole-database.ts"
import { useDatabase } from "./cli/with-database.ts"
import { replay as replayBodies } from "./replay/replay.ts"
import { KEPT_OF_ACCOUNTS } from "./replay/replay-account-reports.ts"
import type { ReplayExample, ReplaySummary, SourceComparison } from "./replay/replay-report.ts"

const ASKED: readonly Pick<Source<never>, "name" | "namesPeople">[] = Object.values(SOURCES).flat()

/** All sources whose bodies are stored. */
const NAMES: readonly SourceName[] = [
  ...ASKED.filter(({ namesPeople }) => !namesPeople).map(({ name }) => name),
  ...KEPT_OF_ACCOUNTS,
]

export const replay: Command = {
  name: "replay",
  summary: "Parse stored responses again with this version and show differences.",
  details: "Covers responses of the stores and of connected accounts. Changes nothing unless --write is given.",
  examples: [
    ["replay", "changes nothing; exit code 1 if a stored response cannot be parsed any more"],
    ["replay --write", "record differences; ranks and history are updated"],
    ["replay --since 2025-11-01 --source play-search", "only one source, from a day on"],
  ],
  options: {
    since: {
      value: "YYYY-MM-DD",
      meaning: "The first day. Default: all days; search results only since the oldest stored response.",
    },
    source: { value: "NAME", meaning: `One of ${NAMES.join(", ")}.` },
    write: { meaning: "Record differences and responses that can be parsed only now." },
  },
  async run(invocation) {
    const { settings, terminal, has } = invocation
    const [since, source] = [dayGiven(invocation, "since"), sourceOf(invocation)]
    assertMade(settings)
    const bodies = openAllBodies(settings.measuring.raw)
    const onProgress = (readings: number) => terminal.progress(`${readings} readings`)
    const options = { bodies, sources: SOURCES, since, source, write: has("write"), onProgress }
    const replayed = await useDatabase(invocation, (sql) => replayBodies(sql, options))
    terminal.progress("")
    show(invocation, replayed, () => [
      ...summary(replayed),
      ...changes(replayed.examples),
      ...hint(replayed, has("write")),
    ])
    return replayed.sources.some(({ unreadable }) => unreadable > 0) ? 1 : 0
  },
}

function sourceOf({ text }: Invocation): SourceName | undefined {
  const name = text("source")
  const source = NAMES.find((one) => one === name)
  if (name !== undefined && !source) throw new WrongUse(`--source must be one of ${NAMES.join(", ")}`)
  return source
}

function summary({ sources }: ReplaySummary): string[] {
  if (sources.length === 0) return ["nothing to replay: no responses are stored"]
  return table(
    [
      "SOURCE",
      "SAME",
      "DIFFERENT",
      "PLACES",
      "NOW READABLE",
      "STILL UNREADABLE",
      "NO LONGER READABLE",
      "NOT STORED",
      "RECORDED",
    ],
    sources.map((comparison) => [
      comparison.source,
      comparison.same,
      comparison.different,
      comparison.places,
      comparison.nowReadable,
      comparison.stillUnreadable,
      comparison.unreadable,
      comparison.notKept,
      comparison.recorded,
    ]),
  )
}

function changes(examples: readonly ReplayExample[]): string[] {
  if (examples.length === 0) return []
  const rows = examples.map(({ source, change, subject, storefront, seenAt, detail }) => [
    source,
    change,
    `${printable(subject)}, ${storefront}`,
    `${seenAt.toISOString().slice(0, 19)}Z`,
    detail,
  ])
  return ["", ...table(["SOURCE", "CHANGE", "SUBJECT", "READ AT", "DETAIL"], rows)]
}

function hint({ sources }: ReplaySummary, written: boolean): string[] {
  const waiting = (one: SourceComparison) => one.different + one.nowReadable > 0
  if (!written)
    return sources.some(waiting)
      ? ["", "nothing was changed; to record the differences, run: appmeter replay --write"]
      : []
  const left = sources.filter((one) => waiting(one) && one.recorded === 0)
  return left.map(
    ({ source }) => `${source}: not recorded, because a better reading exists or the parser version was not raised`,
  )
}
