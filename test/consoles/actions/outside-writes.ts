import { expect } from "bun:test"
import { actions } from "../../../src/catalog.ts"
import { createPlatforms } from "../../../src/consoles/writing/platforms.ts"
import { setWrites } from "../../../src/consoles/writing/writers.ts"
import { outsideWrites } from "../../../src/core/action.ts"
import type { Sql } from "../../../src/database/types.ts"
import { createOutbox, type Outbox } from "../../../src/jobs/outbox.ts"
import { createLog } from "../../../src/lib/log.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { type Answer, openService, type Service } from "../../service.ts"
import { type Cutter, cutterBefore } from "../cutter.ts"
import { type AccountScene, reachOf } from "../scene.ts"

/** A workspace whose connected account accepts writes, behind a proxy that can cut connections. */
export interface OutsideWrites {
  cutter: Cutter
  service: Service
  key: string
  worker: Outbox
  workerLog: string[]
  confirm(confirmToken: string): Promise<Answer>
  /** Confirms a previewed write and returns the job's id. */
  queue(preview: Answer): Promise<string>
  job(id: string): Promise<Answer["body"]>
  used(): Promise<number>
  /**
   * Simulates that this many minutes have passed since the job was sent, and returns the job's status after the check
   * that was due.
   */
  after(id: string, minutes: number): Promise<string>
  /** Removes the jobs and the proxy. */
  close(): Promise<void>
}

export async function openWrites(
  sql: Sql,
  { register, workspaceId, account, url }: Pick<AccountScene, "register" | "workspaceId"> & OutsideAccount,
): Promise<OutsideWrites> {
  await setWrites(register, workspaceId, account, { on: true })
  const cutter = cutterBefore(url)
  const platforms = createPlatforms({ sql, sealer, reach: reachOf(cutter.url) })
  const service = openService({ sql, platforms })
  const [{ name }] = await sql<[{ name: string }]>`
    update workspace set plan = 'studio', overrides = '{"ratePerSecond": 100000}'
    where id = ${workspaceId}
    returning name`
  const key = await service.key(workspaceId, { workspace: name })
  const workerLog: string[] = []
  const log = createLog((line) => void workerLog.push(line), "debug")
  const worker = createOutbox({ sql, kinds: outsideWrites(actions), platforms, log, retry: { baseMs: 1, capMs: 1 } })
  return { cutter, service, key, worker, workerLog, confirm, queue, job, used, after, close }

  async function confirm(confirmToken: string) {
    return await service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })
  }

  async function queue({ body }: Answer) {
    expect([body.error, body.detail]).toEqual([undefined, undefined])
    const confirmed = await confirm(body.confirmToken)
    expect(confirmed.body).toMatchObject({ status: "queued" })
    return confirmed.body.jobId as string
  }

  async function job(id: string) {
    return (await service.call(`/v1/jobs/${id}`, { key })).body
  }

  async function used() {
    return (await service.call("/v1/account", { key })).body.credits.used
  }

  async function after(id: string, minutes: number) {
    await sql`
      update job
      set proof_at = now() - interval '1 s', sent_at = now() - ${minutes} * interval '1 minute'
      where id = ${id} and proof_at is not null`
    await worker.runOnce()
    return (await job(id)).status
  }

  async function close() {
    cutter.stop()
    await sql`delete from job where workspace_id = ${workspaceId}`
  }
}

interface OutsideAccount {
  /** Id of the account. */
  account: string
  /** Address of the stand-in. */
  url: string
}
