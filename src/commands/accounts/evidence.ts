import { Buffer } from "node:buffer"
import { pacificDay } from "../../consoles/pacific.ts"
import type { OwnApp } from "../../consoles/read/app-accounts.ts"
import { EVIDENCE_REPORTS, type ReportEvidence, readReportEvidence } from "../../consoles/read/read-evidence.ts"
import type { Sql } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import { openAllBodies } from "../../measuring/raw-bodies.ts"
import { WORKSPACE } from "../account.ts"
import { type Command, CommandProblem, WrongUse } from "../cli/command.ts"
import { dayGiven } from "../cli/day.ts"
import { printable, show, table } from "../cli/show.ts"
import { chooseWorkspace, useDatabase } from "../cli/with-database.ts"

export const accountEvidence: Command = {
  name: "account evidence",
  summary: "Show the reports and rows behind the figures of a connected account.",
  examples: [
    [
      "account evidence --app app_4fD0Zs81hQbK --report sales --day 2026-11-19",
      "the report of a day and the app's rows in it",
    ],
  ],
  options: {
    workspace: WORKSPACE,
    app: { value: "APP_ID", meaning: "Id of the app." },
    report: { value: "NAME", meaning: `One of ${EVIDENCE_REPORTS.join(", ")}.` },
    day: { value: "YYYY-MM-DD", meaning: "Day of the report. Default: yesterday (Pacific time)." },
  },
  async run(invocation) {
    const appId = invocation.text("app")
    const report = EVIDENCE_REPORTS.find((one) => one === invocation.text("report"))
    if (appId === undefined || report === undefined)
      throw new WrongUse(`--app and --report are required; the report is one of ${EVIDENCE_REPORTS.join(", ")}`)
    const day = dayGiven(invocation, "day") ?? addDays(pacificDay(new Date()), -1)
    const bodies = openAllBodies(invocation.settings.measuring.raw)
    const evidence = await useDatabase(invocation, async (sql) => {
      const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
      const app = await findApp(sql, workspace.id, appId)
      return await readReportEvidence(sql, workspace.id, app, { report, day })
    })
    if (!evidence)
      throw new CommandProblem("no connected account has this report of the app; see: appmeter account list")
    const reports = await Promise.all(
      evidence.said.map(async (stored) => ({
        ...stored,
        bodyKept: await bodies.has(Buffer.from(stored.sha256, "hex")),
      })),
    )
    show(invocation, { ...evidence, day, said: reports }, () => reports.flatMap((stored) => linesOf(evidence, stored)))
    return 0
  },
}

async function findApp(sql: Sql, workspaceId: number, appId: string): Promise<OwnApp> {
  const [row] = await sql<OwnApp[]>`
    select t.id, i.store_id as "iosId", g.store_id as "androidPkg"
    from tracked_app t
    left join store_app i on i.id = t.ios_app
    left join store_app g on g.id = t.android_app
    where t.id = ${appId} and t.workspace_id = ${workspaceId}`
  if (!row) throw new CommandProblem("the workspace tracks no app with that id; see: appmeter app list")
  return row
}

function linesOf(
  { account, state, report, dayZone }: ReportEvidence,
  {
    day,
    source,
    seenAt,
    parser,
    origin,
    sha256,
    bodyKept,
    about,
    count,
    rows,
  }: ReportEvidence["said"][number] & { bodyKept: boolean },
): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cell = (value: unknown) =>
    value === undefined || value === null
      ? ""
      : printable(typeof value === "object" ? JSON.stringify(value) : String(value))
  return [
    `${report}${about === null ? "" : ` of ${printable(about)}`}, ${day} (${dayZone}), of ${account} (${state})`,
    `${source}, read ${seenAt.toISOString().slice(0, 19)}Z, parser ${parser}, ` +
      `origin ${printable(origin)}, body ${sha256}${bodyKept ? ", stored" : ""}`,
    ...(rows.length > 0
      ? table(
          columns.map((name) => name.toUpperCase()),
          rows.map((row) => columns.map((name) => cell(row[name]))),
        )
      : ["no rows about the app"]),
    ...(count > rows.length ? [`and ${count - rows.length} more rows`] : []),
    "",
  ]
}
