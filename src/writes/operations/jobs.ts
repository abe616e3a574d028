import * as v from "valibot"
import type { Caller } from "../../access/caller.ts"
import { visibleWriteScopes } from "../../access/scopes.ts"
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
  summary: "Returns the state of a confirmed write to an outside platform.",
  description:
    "Poll every few seconds until the status is done, failed or unknown. done and failed are final. unknown " +
    "changes if a later check of the target, after 1, 10 and 60 minutes and a day, proves the outcome. There is " +
    "no progress percentage.",
  effect: "reads",
  scope: null,
  price: 0,
  faults: ["job_not_found"],
  missing: "job_not_found",
  input: v.strictObject({
    jobId: v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.description("jobId from confirm_action.")),
  }),
  output: v.strictObject({
    jobId: v.string(),
    action: described(v.string(), "The write."),
    summary: described(v.string(), "Summary from the preview."),
    status: described(
      v.picklist(STATUSES),
      "queued: not started, or to be retried, and nothing was sent. running: in progress. done: applied by the " +
        "platform. failed: nothing was applied; error has the reason, and the credits are returned. unknown: it may " +
        "have been applied; note says what to do.",
    ),
    target: described(
      v.strictObject({ kind: v.string(), id: v.string(), name: v.string() }),
      "Target from the preview.",
    ),
    appId: described(v.nullable(v.string()), "The app. Null if it is not an app of the workspace."),
    attempts: described(Count, "Number of starts. A job is restarted only while nothing was sent."),
    createdAt: described(Time, "Time of the confirm."),
    startedAt: described(v.nullable(Time), "Time of the first start. Null if not started."),
    finishedAt: described(v.nullable(Time), "Time when the status became done, failed or unknown. Null before."),
    result: described(v.nullable(v.record(v.string(), v.unknown())), "Result, by action. Null unless status is done."),
    error: described(v.nullable(FaultText), "Error with its code, message and fields. Null unless status is failed."),
    note: described(v.nullable(v.string()), "Advice for an unknown outcome. Null otherwise."),
    steps: described(
      v.array(
        v.strictObject({
          what: described(v.string(), "What was sent."),
          sentAt: Time,
          outcome: described(
            v.nullable(v.picklist(["done", "refused", "unsure"])),
            "refused: nothing was applied; unsure: it may have been applied. Null if the response was lost.",
          ),
        }),
      ),
      "The requests sent, in order. Each is sent once.",
    ),
    findings: described(
      v.array(
        v.strictObject({
          at: Time,
          verdict: described(
            v.picklist(["applied", "absent", "unclear"]),
            "absent: the target is unchanged; unclear: the target is neither unchanged nor as requested.",
          ),
          text: v.string(),
        }),
      ),
      "Results of checks of the target since the outcome became unknown.",
    ),
    requestId: described(
      v.string(),
      "Request id of the confirm as assigned here, which is its x-request-id unless the caller sent one. The log " +
        "lists the job under it.",
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

/**
 * Returns the job. A key limited to some apps sees the jobs of those apps, and its own jobs that concern no app. A
 * person who may neither make such a write nor read what it changes does not see its job. A key that belongs to no
 * person needs no scope.
 */
async function findJob(
  sql: Sql,
  { workspaceId, keyId, person, appList, scopes }: Caller,
  jobId: string,
): Promise<JobRow> {
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
      and (${person === null} or scope = any(${visibleWriteScopes(scopes)}))
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
