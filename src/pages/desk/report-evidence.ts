import * as v from "valibot"
import { pacificDay } from "../../consoles/pacific.ts"
import { EVIDENCE_REPORTS, readReportEvidence, SHOWN_ROWS } from "../../consoles/read/read-evidence.ts"
import { ANSWERED_STATES } from "../../consoles/state.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { addDays } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Time } from "../../lib/shapes.ts"
import { isRealDay } from "../../lib/time.ts"

const Said = v.strictObject({
  day: described(Day, "Whose it is; of what stands until something else is said the last up to the day asked for."),
  source: v.string(),
  seenAt: described(Time, "When the account first said so."),
  parser: described(Count, "Version of what took the body apart."),
  origin: described(v.string(), "What brought it here: own readings, an import, the demo."),
  sha256: described(v.string(), "Of the body as it came, hex."),
  about: described(v.nullable(v.string()), "The campaign, country or product; of all else null."),
  processed: described(v.nullable(Day), "When the file was made, of a report that comes in files."),
  count: described(Count, "Rows about the app."),
  rows: described(v.array(v.record(v.string(), v.unknown())), `The first ${SHOWN_ROWS} of them, as they were said.`),
})

export const getReportEvidence = operation({
  id: "get_report_evidence",
  method: "GET",
  path: "/desk/:appId/report-evidence",
  group: "Your apps",
  toolset: "revenue",
  summary: "What the figures of a connected account lead back to.",
  effect: "reads",
  scope: "revenue:read",
  price: 0,
  faults: ["not_connected"],
  input: ofApp({
    report: v.pipe(v.picklist(EVIDENCE_REPORTS), v.description("What the figures are made of.")),
    day: v.optional(v.pipe(v.string(), v.check(isRealDay), v.description("Yesterday when left out."))),
  }),
  output: v.strictObject({
    account: v.string(),
    state: v.picklist(ANSWERED_STATES),
    report: v.picklist(EVIDENCE_REPORTS),
    day: Day,
    dayZone: described(v.string(), "The time zone whose day it is."),
    said: described(
      v.array(Said),
      "What was said of it; of one thing said several times the first counts. Empty = nothing was: not known.",
    ),
  }),
}).run(async ({ app, report, day: asked }, { sql, caller, now }) => {
  const day = asked ?? addDays(pacificDay(now()), -1)
  const evidence = await readReportEvidence(sql, caller.workspaceId, app, { report, day })
  if (!evidence) throw new Fault("not_connected", { detail: "No connected account says this of the app." })
  const { said, ...rest } = evidence
  return { ...rest, day, said: said.map((one) => ({ ...one, seenAt: one.seenAt.toISOString() })) }
})
