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
  day: described(
    Day,
    "The day of the report. For facts that hold until they change, the last day up to the requested one.",
  ),
  source: v.string(),
  seenAt: described(Time, "When it was first read."),
  parser: described(Count, "Version of the parser."),
  origin: described(v.string(), "own, import or demo."),
  sha256: described(v.string(), "SHA-256 of the response, in hex."),
  about: described(v.nullable(v.string()), "The campaign, country or product. Null for other reports."),
  processed: described(v.nullable(Day), "Processing date of the file, for reports that come as files."),
  count: described(Count, "Rows about the app."),
  rows: described(v.array(v.record(v.string(), v.unknown())), `The first ${SHOWN_ROWS} rows, unchanged.`),
})

export const getReportEvidence = operation({
  id: "get_report_evidence",
  method: "GET",
  path: "/page/:appId/report-evidence",
  group: "Your apps",
  toolset: "revenue",
  summary: "The reports behind the figures of a connected account.",
  effect: "reads",
  scope: "revenue:read",
  price: 0,
  faults: ["not_connected"],
  input: ofApp({
    report: v.pipe(v.picklist(EVIDENCE_REPORTS), v.description("The kind of report.")),
    day: v.optional(v.pipe(v.string(), v.check(isRealDay), v.description("Default: yesterday."))),
  }),
  output: v.strictObject({
    account: v.string(),
    state: v.picklist(ANSWERED_STATES),
    report: v.picklist(EVIDENCE_REPORTS),
    day: Day,
    dayZone: described(v.string(), "The time zone of the day."),
    said: described(
      v.array(Said),
      "Stored reports of the day. If several are about the same thing, the first counts. Empty if there is none.",
    ),
  }),
}).run(async ({ app, report, day: requestedDay }, { sql, caller, now }) => {
  const day = requestedDay ?? addDays(pacificDay(now()), -1)
  const evidence = await readReportEvidence(sql, caller.workspaceId, app, { report, day })
  if (!evidence) throw new Fault("not_connected", { detail: "No connected account reports this about the app." })
  const { said: reports, ...rest } = evidence
  return { ...rest, day, said: reports.map((one) => ({ ...one, seenAt: one.seenAt.toISOString() })) }
})
