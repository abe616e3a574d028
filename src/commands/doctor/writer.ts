import * as v from "valibot"
import { createGate } from "../../database/gate.ts"
import { dayOf } from "../../lib/days.ts"
import { askWriter } from "../../outbound/providers/ask.ts"
import type { Settings } from "../../settings/settings.ts"
import { countTokens } from "../../texts/port/stored-texts.ts"
import { type PromptTask, promptOf, readAnswer } from "../../texts/prompt.ts"
import type { Invocation } from "../cli/command.ts"
import type { DoctorDatabase } from "./doctor-database.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

const THING = "writer"

/** Checks whether the language model answers, how fast, and whether it follows a schema, and shows today's use. */
export async function checkWriter(
  { settings }: Pick<Invocation, "settings">,
  reached: DoctorDatabase,
): Promise<Finding[]> {
  const { writer } = settings
  if (!writer) return []
  const tried = await tryOut(writer)
  const used = await createGate({ deadlineMs: DEADLINE_MS })
    .run(async () => await usedToday(await reached.database()))
    .catch(() => null) // the finding "database" reports problems of the database
  if (!used) return [tried]
  const { tokensADay, price } = writer
  const tokens = used.input + used.output
  const cents = price && Math.round((used.input * price.input + used.output * price.output) / 1e4) / 100
  const cost = cents === undefined ? "" : `, costing about ${cents}`
  const says = `${tokens} of ${tokensADay} tokens used today (UTC)${cost}`
  const day =
    tokens < tokensADay ? ok(THING, says) : warning(THING, says, "raise AI_TOKENS_A_DAY, or wait until 00:00 UTC")
  return [tried, day]
}

const DEADLINE_MS = 10_000
const WITHIN_MS = 30_000

const TASK: PromptTask = {
  kind: "doctor",
  orders: "Put the word of the record into word.",
  records: [{ r: "r1", text: "tide" }],
  answer: v.strictObject({ word: v.string() }),
  mostTokens: 200,
}

async function tryOut(writer: NonNullable<Settings["writer"]>): Promise<Finding> {
  const { model, url, api } = writer
  const [named, began] = [`${model} at ${new URL(url).host} (${api})`, performance.now()]
  const prompt = promptOf(TASK, () => "abcdef")
  const parts = { now: () => new Date(), signal: AbortSignal.timeout(WITHIN_MS), patienceMs: 0 }
  const reply = await askWriter(writer, prompt.question, { ...parts, fetch: (at, init) => fetch(at, init) }).catch(
    () => null,
  )
  const ms = Math.round(performance.now() - began)
  if (!reply)
    return problem(THING, `${named}: no answer within ${WITHIN_MS / 1_000} s`, "check that the server is running")
  if ("failed" in reply) {
    const why = [reply.status, reply.code].filter((one) => one !== undefined).join(" ")
    return problem(THING, `${named}: ${reply.failed}${why && ` (${why})`}`, "check AI_URL, AI_API, AI_MODEL and AI_KEY")
  }
  const read = readAnswer(TASK, prompt, reply)
  if ("failed" in read)
    return warning(
      THING,
      `${named} answers in ${ms} ms but does not follow the JSON schema`,
      "choose a model that follows JSON schemas",
    )
  return ok(THING, `${named} answers in ${ms} ms and follows the JSON schema`)
}

async function usedToday(database: Awaited<ReturnType<DoctorDatabase["database"]>>) {
  return database && (await countTokens(database.sql, dayOf(new Date())))
}
