import * as v from "valibot"
import type { Caller } from "../../access/caller.ts"
import { FaultText } from "../../core/fault-shapes.ts"
import { operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import type { NewJob } from "../../jobs/enqueue.ts"
import type { StoredFinding } from "../../jobs/outbox-proofs.ts"
import { FAULTS, Fault, type FaultCode, type FaultExtra } from "../../lib/faults.ts"
import { described } from "../../lib/schema.ts"
import { Count, Time } from "../../tracking/shapes.ts"

const STATUSES = ["queued", "running", "done", "failed", "unknown"] as const

export const getJob = operation({
  id: "get_job",
  method: "GET",
  path: "/jobs/:jobId",
  group: "Writes",
  toolset: "writes",
  summary: "How a confirmed write to an outside platform stands.",
  description:
    "Ask every few seconds until the status is done, failed or unknown. Done and failed do not change any more; unknown does where a later look at the target proves what became of it, after 1, 10 and 60 minutes and a day. There is no progress percentage.",
  effect: "reads",
  scope: null,
  price: 0,
  faults: ["job_not_found"],
  missing: "job_not_found",
  input: v.strictObject({
    jobId: v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.description("The jobId that a confirm answered.")),
  }),
  output: v.strictObject({
    jobId: v.string(),
    action: described(v.string(), "The write, as it was previewed."),
    summary: described(v.string(), "What it does, as the preview said it."),
    status: described(
      v.picklist(STATUSES),
      "queued: not begun, or to be tried again, nothing sent. running. done: the platform has applied it. failed: nothing was applied, error says why, and its credits are given back. unknown: it may or may not have been applied, note says what to do.",
    ),
    target: described(
      v.strictObject({ kind: v.string(), id: v.string(), name: v.string() }),
      "What is changed, as the preview showed it.",
    ),
    appId: described(v.nullable(v.string()), "The app it is about; null = none of the workspace's."),
    attempts: described(Count, "How often it was begun. It is begun again only while nothing was sent."),
    createdAt: described(Time, "When it was confirmed."),
    startedAt: described(v.nullable(Time), "When it was first begun; null = not yet."),
    finishedAt: described(v.nullable(Time), "When it was done, failed or became unknown; null = not yet."),
    result: described(v.nullable(v.record(v.string(), v.unknown())), "What was done, by action; null until done."),
    error: described(
      v.nullable(FaultText),
      "Why it failed: a code of the error list, its sentence and its fields; null unless failed.",
    ),
    note: described(v.nullable(v.string()), "What to know about an unknown outcome; null otherwise."),
    steps: described(
      v.array(
        v.strictObject({
          what: described(v.string(), "What was sent."),
          sentAt: Time,
          outcome: described(
            v.nullable(v.picklist(["done", "refused", "unsure"])),
            "refused: nothing of it was applied. unsure: it may have been. Null = its end was never heard of.",
          ),
        }),
      ),
      "The requests that went out, in order; each is sent once.",
    ),
    findings: described(
      v.array(
        v.strictObject({
          at: Time,
          verdict: described(
            v.picklist(["applied", "absent", "unclear"]),
            "absent: the target is as it was before. unclear: neither as before nor as wanted.",
          ),
          text: v.string(),
        }),
      ),
      "What looks at the target found since the outcome became unknown.",
    ),
    requestId: described(
      v.string(),
      "Our id of the confirm, its x-request-id unless it brought one; the log names the job by it.",
    ),
  }),
}).run(async ({ jobId }, { sql, caller }) => {
  const { shown, error, steps, createdAt, startedAt, finishedAt, ...job } = await findJob(sql, caller, jobId)
  return {
    ...job,
    ...shown,
    createdAt: createdAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    error: error && faultOf(error),
    note: job.status === "unknown" ? UNKNOWN : null,
    steps: steps.map(({ sentAt, ...step }) => ({ ...step, sentAt: new Date(sentAt).toISOString() })),
  }
})

const UNKNOWN =
  "The write was interrupted after it may have been sent, so it may or may not have been applied. " +
  "It is never tried again. What the target shows later can prove it either way: see findings. " +
  "Look at the target on its platform; if it is not as wanted, preview the action anew."

interface JobRow extends Pick<NewJob, "action" | "appId" | "requestId" | "shown"> {
  jobId: string
  status: (typeof STATUSES)[number]
  attempts: number
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  result: Record<string, unknown> | null
  error: StoredFault | null
  steps: { what: string; sentAt: string; outcome: "done" | "refused" | "unsure" | null }[]
  findings: StoredFinding[]
}

type StoredFault = { error: FaultCode } & FaultExtra

/** Returns the job. A key limited to some apps sees the jobs of those apps, and its own jobs that concern no app. */
async function findJob(sql: Sql, { workspaceId, keyId, appList }: Caller, jobId: string): Promise<JobRow> {
  const [job] = await sql<JobRow[]>`
    select id as "jobId", action, status, app_id as "appId", attempts, result, error, shown, request_id as "requestId",
      created_at as "createdAt", started_at as "startedAt", finished_at as "finishedAt", proofs as findings, (
        select coalesce(jsonb_agg(jsonb_build_object('what', what, 'sentAt', sent_at, 'outcome', outcome) order by n),
          '[]')
        from job_step
        where job_id = job.id
      ) as steps
    from job
    where id = ${jobId} and workspace_id = ${workspaceId}
      and (
        ${appList === null}
        or app_id = any(${appList ?? []}::text[])
        or app_id is null and key_id = ${keyId}
      )`
  if (!job) throw new Fault("job_not_found")
  return job
}

/** Returns the error as in a refused call, without the link. A code that no longer exists becomes internal_error. */
function faultOf({ error, ...extra }: StoredFault) {
  const fault = new Fault(Object.hasOwn(FAULTS, error) ? error : "internal_error", extra)
  const { docs: _, ...body } = fault.body("")
  return body
}
