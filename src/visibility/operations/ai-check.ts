import * as v from "valibot"
import { type Context, nothing, ofApp, operation } from "../../core/operation.ts"
import { Fault } from "../../lib/faults.ts"
import { CountryOrEmpty } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { Count, Storefront } from "../../tracking/shapes.ts"
import { beginCheck, isMeasuring, makeCheckId } from "../checks.ts"
import { countShared, estimateCost, MAX_TERMS, type PlannedTurn, planTurns, readWantedTerms } from "../plan.ts"
import { purposeOf } from "../purpose.ts"
import { AssistantName, cost, SAID } from "./visibility-shapes.ts"

/** Number of storefronts that a check covers by default. */
const STOREFRONTS = 3
/** Assumed duration of one answer, for the ETA. */
const ANSWER_SECONDS = 30

export const startAiCheck = operation({
  id: "start_ai_check",
  method: "GET",
  path: "/apps/:appId/ai-check",
  group: "Your apps",
  toolset: "ai",
  summary: "Asks AI assistants about the app's keywords; get_ai_visibility has the answers.",
  description:
    `Asks about the ${MAX_TERMS} keywords with the highest demand in a storefront, in its language, without ` +
    `naming the app. Default: the app's first ${STOREFRONTS} storefronts. Takes one AI visibility unit, which is ` +
    "returned if the check fails. An app can have one check at a time.",
  effect: "spends",
  scope: "ai:read",
  plan: "studio",
  price: 1,
  faults: ["already_measuring", "ai_limit", "ai_not_configured"],
  input: ofApp({
    country: described(
      v.optional(CountryOrEmpty),
      `Two-letter storefront code. Default, or if empty: the app's first ${STOREFRONTS} storefronts.`,
    ),
  }),
  output: v.strictObject({
    checkId: described(v.nullable(v.string()), "Id of the check, as in get_ai_visibility. Null if none was started."),
    state: described(
      v.picklist(["measuring", "measured", "nothing_tracked"]),
      "measured: every question was already answered within a day. nothing_tracked: no keyword is tracked there, " +
        "and no unit is taken.",
    ),
    countries: described(v.array(Storefront), "Storefronts of the check."),
    keywords: described(Count, "Keywords of the check, over all storefronts."),
    engines: described(
      v.array(v.strictObject({ engine: AssistantName, model: described(v.string(), "Requested model.") })),
      "Assistants of the check.",
    ),
    runs: described(Count, "Answers per keyword and assistant."),
    ...cost,
    eta: described(Count, "Expected seconds until the end. 0 if finished."),
    method: described(v.array(v.string()), "How to read the figures."),
  }),
}).run(async ({ app, country }, ctx) => {
  const { sql, assistants } = ctx
  if (assistants.engines.length === 0)
    throw new Fault("ai_not_configured", { detail: NO_ENGINES }, { retryAfter: 3_600 })
  if (await isMeasuring(sql, app.id)) throw new Fault("already_measuring")
  const countries = country === undefined ? app.countries.slice(0, STOREFRONTS) : [country]
  const turns = planTurns(await readWantedTerms(sql, app.id, countries), assistants)
  const shared = await countShared(sql, turns)
  const reckoned = await estimateCost(sql, { turns, shared }, assistants)
  const plan = {
    countries,
    keywords: new Set(turns.map(({ storefront, term }) => `${storefront} ${term}`)).size,
    engines: assistants.engines.map(({ assistant, model }) => ({ engine: assistant, model })),
    runs: assistants.runs,
    answers: turns.length,
    ...reckoned,
    method: [...SAID],
  }
  if (turns.length === 0) return nothing({ ...plan, checkId: null, state: "nothing_tracked", shared: 0, eta: 0 })
  const { id, ended, shared: joined } = await begin(ctx, { appId: app.id, countries, turns })
  const state = ended ? "measured" : "measuring"
  return { ...plan, checkId: id, state, shared: joined, eta: ended ? 0 : etaOf(turns, ctx) } as const
})

const NO_ENGINES =
  "No assistant is configured on this server. The operator can set AI_ENGINES and a key for each. Retrying does " +
  "not help until then."

/**
 * Starts the check. Throws ai_limit, or already_measuring if another call started one first; that fault gives back the
 * unit. The unit is also given back if every assistant fails.
 */
async function begin(
  { sql, caller, requestId, assistants, take, now }: Context,
  { appId, countries, turns }: { appId: string; countries: readonly string[]; turns: readonly PlannedTurn[] },
) {
  const id = await makeCheckId(sql)
  const { granted, limit, resetsAt } = await take("aiVisibility", { about: purposeOf(id), days: 1 })
  if (!granted) {
    const retryAfter = Math.max(1, Math.ceil((Date.parse(resetsAt) - now().getTime()) / 1_000))
    throw new Fault("ai_limit", { limit, resetsAt }, { retryAfter })
  }
  const check = { id, workspaceId: caller.workspaceId, appId, storefronts: countries, requestId }
  const begun = await beginCheck(sql, check, { turns, spreadMs: assistants.spreadMs })
  if (!begun) throw new Fault("already_measuring")
  return { id, ...begun }
}

/** Assistants answer in parallel; each takes its questions one after another. */
function etaOf(turns: readonly PlannedTurn[], { assistants: { engines, runs, spreadMs } }: Context): number {
  const each = turns.length / engines.length
  return Math.ceil(((runs - 1) * spreadMs) / 1_000 + 2 * each + ANSWER_SECONDS)
}
