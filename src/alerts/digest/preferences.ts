import { AccessProblem } from "../../access/problem.ts"
import type { Db, Sql } from "../../database/types.ts"
import { isTimeZone } from "../../lib/zoned-days.ts"
import { EVERY, type Schedule } from "./period.ts"
import type { Subscription } from "./unsubscribe.ts"

/** A digest that was due. */
export interface DigestMail {
  every: Schedule["every"]
  day: string
  state: "writing" | "sending" | "sent" | "skipped" | "failed" | "unknown"
  /** Why it was not sent. Null if it was. */
  failure: string | null
  at: Date
}

/** Returns when the person gets a digest of the workspace. Null if never. */
export async function readSchedule(sql: Db, { personId, workspaceId }: Subscription): Promise<Schedule | null> {
  const [row] = await sql<Schedule[]>`
    select every, hour, zone
    from digest
    where person_id = ${personId} and workspace_id = ${workspaceId}`
  return row ?? null
}

/** Returns the last digest of a person and workspace. Null if there was none. */
export async function readLastDigest(sql: Db, { personId, workspaceId }: Subscription): Promise<DigestMail | null> {
  const [row] = await sql<DigestMail[]>`
    select every, day, state, failure, coalesce(ended_at, created_at) as at
    from digest_mail
    where person_id = ${personId} and workspace_id = ${workspaceId}
    order by created_at desc, id
    limit 1`
  return row ?? null
}

/** The text of a form or a command. */
interface TypedSchedule {
  every: string
  hour: string
  zone: string
}

/** Throws AccessProblem, with the field that is wrong. */
export function parseSchedule({ every, hour, zone }: TypedSchedule): Schedule {
  const chosen = EVERY.find((name) => name === every)
  if (!chosen) throw new AccessProblem(`choose ${EVERY.join(" or ")}`, "every")
  if (!/^([01]?\d|2[0-3])$/.test(hour)) throw new AccessProblem("the hour must be a whole number from 0 to 23", "hour")
  if (zone.length > 64 || !isTimeZone(zone))
    throw new AccessProblem("there is no such time zone; write it as Europe/Berlin or UTC", "zone")
  return { every: chosen, hour: Number(hour), zone }
}

/** Sets when a person gets a digest. The first one is the next that becomes due. */
export async function setSchedule(
  sql: Sql,
  { personId, workspaceId }: Subscription,
  { every, hour, zone }: Schedule,
): Promise<void> {
  await sql`
    insert into digest as d (person_id, workspace_id, every, hour, zone)
    values (${personId}, ${workspaceId}, ${every}, ${hour}, ${zone})
    on conflict (person_id, workspace_id) do update
    set every = excluded.every, hour = excluded.hour, zone = excluded.zone, since = now()
    where (d.every, d.hour, d.zone) is distinct from (excluded.every, excluded.hour, excluded.zone)`
}

export async function endDigest(sql: Sql, { personId, workspaceId }: Subscription): Promise<void> {
  await sql`
    delete from digest
    where person_id = ${personId} and workspace_id = ${workspaceId}`
}
