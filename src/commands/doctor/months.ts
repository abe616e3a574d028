import { createGate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { monthOf } from "../../lib/days.ts"
import type { Invocation } from "../cli/command.ts"
import { printable } from "../cli/show.ts"
import type { DoctorDatabase } from "./doctor-database.ts"
import { type Finding, problem } from "./finding.ts"

/**
 * Finds workspaces whose billing month is ahead of today, for example because the clock was wrong. The month never goes
 * back by itself, so that no credit is spent twice. Until the real month catches up, no new credits are granted.
 */
export async function checkMonths(_: Invocation, reached: DoctorDatabase): Promise<Finding[]> {
  // the finding "database" reports why the database cannot be opened, or that a table is missing
  const database = await reached.database().catch(() => null)
  const look = (sql: Sql) => createGate({ deadlineMs: DEADLINE_MS }).run(() => readAhead(sql))
  const rows = database ? await look(database.sql).catch(() => []) : []
  return rows.map(({ name, month }) =>
    problem(
      "credits",
      `the billing month of ${printable(name)} is ${monthOf(month).slice(0, 7)}, ahead of today, ` +
        "so no new credits are granted until it ends",
      `correct the clock of every machine, then run: appmeter workspace set ${JSON.stringify(name)} --reset-month`,
    ),
  )
}

const DEADLINE_MS = 10_000

async function readAhead(sql: Sql): Promise<{ name: string; month: string }[]> {
  return await sql<{ name: string; month: string }[]>`
    select w.name, a.month
    from account a
    join workspace w on w.id = a.workspace_id
    where w.deleted_at is null and a.month > date_trunc('month', now() at time zone 'utc')::date
    order by w.id
    limit 20`
}
