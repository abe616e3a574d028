import { hash } from "node:crypto"
import { ReadFailure, rawBody } from "../../measuring/source.ts"
import type { AccountTurn } from "../account-kind.ts"
import { readTasks } from "../read-tasks.ts"
import { parsePlayReport, playFileName, playObservations } from "../sources/play/reports.ts"
import { playText } from "../sources/play/text.ts"
import { changedReports } from "../store/reports.ts"
import { type AccountTask, endTask, type PlayTask } from "../tasks.ts"
import { findFile, listFiles, readFile } from "./bucket.ts"
import type { Play } from "./client.ts"
import { makeListTasks, storeListing } from "./files.ts"
import { makeReviewTasks, readPlayReviews } from "./read-reviews.ts"
import { unzipped } from "./unzip.ts"

/** Google writes the files of the current months once a day, at no fixed time, so they are listed more often. */
const LIST_AGAIN_MS = 12 * 3_600_000

interface PlayTurn extends AccountTurn {
  play: Play
}

/** Reads the due reports and reviews of a developer's account. Throws ConsoleProblem. */
export async function readPlay(play: Play, turn: AccountTurn): Promise<number | null> {
  await makeListTasks(turn.sql, turn.account.id)
  await makeReviewTasks(turn.sql, turn.account.id)
  return await readTasks(turn, {
    read: (task) => readPlayTask({ ...turn, play }, task as AccountTask<PlayTask>),
    restMs: () => null,
  })
}

async function readPlayTask(turn: PlayTurn, task: AccountTask<PlayTask>): Promise<void> {
  if (task.task === "play_files") return await readListing(turn, task)
  if (task.task === "reviews") return await readPlayReviews(turn, task)
  await readMonth(turn, task)
}

async function readListing({ play, sql, account, now, signal }: PlayTurn, task: AccountTask): Promise<void> {
  const [prefix = ""] = task.subject.split("*")
  const files = await listFiles(play, account.part, { prefix, matchGlob: task.subject }, signal)
  await storeListing(sql, account.id, { files, pattern: task.subject, now: now() })
  const nextAt = new Date(now().getTime() + LIST_AGAIN_MS)
  await endTask(sql, account.id, task, { state: files.length > 0 ? "read" : "empty", nextAt })
}

/**
 * Reads the current content of a month's file. Stores only days whose rows changed, so that a restated month replaces
 * them once. A file that no longer exists counts as late, and is read when it is listed again.
 */
async function readMonth(turn: PlayTurn, task: AccountTask): Promise<void> {
  const { play, sql, record, account, now, keep, fence, signal } = turn
  const file = await findFile(play, account.part, task.subject, signal)
  const bytes = file && (await readFile(play, account.part, file, signal))
  if (file === null || bytes === null) return await endTask(sql, account.id, task, { state: "late", nextAt: null })
  const named = playFileName(file.name)
  if (named === null) throw new ReadFailure("changed", "the file name belongs to no report that is read")
  const body = rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt: now() })
  if (named.family.keepsBody) await keep(body)
  const text = playText(named.family.zipped ? await unzipped(bytes) : bytes)
  const parsed = await parsePlayReport({ name: file.name, generation: file.generation, updated: file.updated, text })
  if (parsed.problem !== null) throw new ReadFailure("changed", parsed.problem)
  if (named.app === null) await refuseSecond(turn, task)
  const seen = playObservations(parsed, account.id, body)
  await record(sql, await changedReports(sql, seen), now, {
    all: true,
    async finish(tx) {
      await fence(tx)
      const state = seen.length > 0 ? "read" : "empty"
      await endTask(tx, account.id, task, { state, nextAt: null, putAside: parsed.putAside })
    },
  })
}

/**
 * A file about all apps has whole days, so a second file of the same month would replace the days of the first. Throws
 * ReadFailure if another file of the month was read and is still in the bucket.
 */
async function refuseSecond({ play, sql, account, signal }: PlayTurn, { task, subject }: AccountTask): Promise<void> {
  const [other] = await sql<{ subject: string }[]>`
    select o.subject
    from account_task t
    join account_task o on o.account_id = t.account_id and o.task = t.task and o.day = t.day and o.subject <> t.subject
    where t.account_id = ${account.id} and t.task = ${task} and t.subject = ${subject} and o.read_at is not null
    order by o.read_at desc, o.subject
    limit 1`
  if (other && (await findFile(play, account.part, other.subject, signal)))
    throw new ReadFailure("mismatched", `the bucket has another file of this month, which was read: ${other.subject}`)
}
