import * as v from "valibot"
import { type Context, ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { AppCountry } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { ASSISTANTS, type Assistant } from "../../lib/upstreams.ts"
import { Count, Storefront } from "../../tracking/shapes.ts"
import { listTerms } from "../../tracking/terms.ts"
import { centsOf } from "../cents.ts"
import { type CheckState, readCheckUsage, readLatestCheck } from "../checks.ts"
import { MATCHER_VERSION, toAppNames } from "../formulas/app-names.ts"
import { mentionsIn } from "../formulas/mentions.ts"
import {
  type MatchedAnswer,
  type MentionFigures,
  mentionFigures,
  mostNamed,
  othersNamed,
  visibilityOf,
} from "../formulas/visibility.ts"
import { countShared, estimateCost, planTurns, readWantedTerms } from "../plan.ts"
import { readSamples, type StoredAnswer } from "../read/answers.ts"
import { type NeighbourApp, readNamedApps } from "../read/named-apps.ts"
import { Answer, Engine, MAX_TEXT, ofAssistants, SAID_OF } from "./engine-shapes.ts"
import { boundsOf, Check, cost, RunState, rounded, SAID } from "./visibility-shapes.ts"

export const getAiVisibility = operation({
  id: "get_ai_visibility",
  method: "GET",
  path: "/apps/:appId/ai",
  group: "Your apps",
  toolset: "ai",
  summary: "Returns how often AI assistants name the app for its keywords, and which apps they name instead.",
  description:
    "A dated sample per assistant, never averaged across assistants. Every figure has its sample size and " +
    "interval. start_ai_check asks again; rivals added later are also found in earlier answers.",
  effect: "reads",
  scope: "ai:read",
  plan: "studio",
  price: 1,
  faults: [],
  narrow: "parts",
  input: ofApp({ country: AppCountry }),
  output: v.strictObject({
    country: Storefront,
    providers: described(
      ofAssistants((name) => described(RunState, SAID_OF[name])),
      "State of each assistant. failed: fewer than half of the answers of the last check arrived; not_measured: " +
        "the assistant was not asked. Neither means zero.",
    ),
    engines: described(
      ofAssistants((name) => v.optional(described(Engine, SAID_OF[name]))),
      "The measured assistants.",
    ),
    answers: described(v.array(Answer), "The answers behind `engines`, by assistant and keyword."),
    matcher: described(Count, "Version of the rules that find names."),
    check: described(v.nullable(Check), "The last check of this app in this storefront. Null if there was none."),
    next: described(
      v.nullable(v.strictObject(cost)),
      "What a check of this storefront would ask now. Null if no assistant is available here or no keyword is tracked.",
    ),
    method: described(v.array(v.string()), "How to read the figures."),
  }),
}).run(async ({ app, storefront }, ctx) => {
  const terms = [...new Set((await listTerms(ctx.sql, app.id, storefront)).map(({ term }) => term))]
  const answers = await readSamples(ctx.sql, { storefront, terms })
  const check = await readLatestCheck(ctx.sql, app.id, storefront)
  const apps =
    answers.length > 0
      ? await readNamedApps(ctx.sql, app, { storefront, terms: [...new Set(answers.map(({ term }) => term))] })
      : []
  const states = statesOf(answers, check)
  const samples = matched(
    answers.filter(({ assistant }) => states[assistant] === "measured"),
    apps,
  )
  return {
    country: storefront,
    providers: states,
    engines: Object.fromEntries([...samples].map(([assistant, counts]) => [assistant, engineOf(counts, apps)])),
    answers: [...samples.values()].flat().map((answer) => answerOf(answer, apps[OWN]!)),
    matcher: MATCHER_VERSION,
    check: check && (await describeCheck(ctx, check)),
    next: await estimateNext(ctx, app, storefront),
    method: [...SAID],
  }
})

type SampleAnswer = StoredAnswer & MatchedAnswer

function matched(answers: readonly StoredAnswer[], apps: readonly NeighbourApp[]): Map<Assistant, SampleAnswer[]> {
  const names = toAppNames(
    apps,
    answers.map(({ text }) => text),
  )
  const found = answers.map((answer): SampleAnswer => {
    const cited = answer.cited.map(({ url }) => url)
    return { ...answer, ...mentionsIn(answer.text, cited, names) }
  })
  return Map.groupBy(found, ({ assistant }) => assistant)
}

function statesOf(answers: readonly StoredAnswer[], check: CheckState | null) {
  const measured = new Set(answers.map(({ assistant }) => assistant))
  const state = (assistant: Assistant) => {
    const runs = check?.engines.find((engine) => engine.assistant === assistant)
    if (runs && check?.state !== "measuring" && 2 * runs.answered < runs.requested) return "failed"
    return measured.has(assistant) ? "measured" : "not_measured"
  }
  return Object.fromEntries(ASSISTANTS.map((assistant) => [assistant, state(assistant)])) as Record<
    Assistant,
    ReturnType<typeof state>
  >
}

/** Index of the queried app: it is always the first of the known apps. */
const OWN = 0
const MAX_RIVALS = 50

function engineOf(answers: readonly SampleAnswer[], apps: readonly NeighbourApp[]) {
  const { pooled, keywords, searched, domains, answers: count, ...figures } = visibilityOf(OWN, answers)
  const times = answers.map(({ seenAt }) => seenAt.getTime())
  const [one] = answers as [SampleAnswer]
  const named = (app: number) => appOf(apps[app]!, mentionFigures(app, answers))
  const rivals = apps.flatMap(({ role }, app) => (role === "rival" ? [named(app)] : []))
  return {
    model: one.model,
    language: one.language,
    answers: count,
    ...shown(figures),
    measuredFrom: new Date(Math.min(...times)).toISOString(),
    measuredTo: new Date(Math.max(...times)).toISOString(),
    pooledLow: rounded(pooled?.low),
    pooledHigh: rounded(pooled?.high),
    searched,
    domains,
    keywords: keywords.map(({ term, ...counts }) => ({ term, ...shown(counts) })),
    rivals: rivals.toSorted((a, b) => b.named - a.named).slice(0, MAX_RIVALS),
    apps: mostNamed(OWN, answers).map(({ app }) => named(app)),
    others: othersNamed(answers),
  }
}

function appOf({ name, storeIds, role }: NeighbourApp, figures: MentionFigures) {
  return { name, storeIds, rival: role === "rival", ...shown(figures) }
}

function shown({ interval, ...figures }: MentionFigures) {
  return { ...figures, ...boundsOf(interval) }
}

function answerOf(
  { assistant: engine, term, phrasing, seenAt, searched, text, named, uncertain }: SampleAnswer,
  { name }: NeighbourApp,
) {
  const isNamed = named.includes(OWN)
  return {
    engine,
    term,
    phrasing,
    askedAt: seenAt.toISOString(),
    searched,
    named: uncertain.includes(OWN) ? null : isNamed,
    excerpt: excerptOf(text, isNamed ? name : null),
  }
}

/** Returns the line that contains the name exactly as written, otherwise the beginning of the text. */
function excerptOf(text: string, name: string | null): string {
  const line = name === null ? undefined : text.split("\n").find((item) => item.includes(name))
  const part = (line ?? text).trim()
  const letters = [...part]
  return letters.length > MAX_TEXT ? `${letters.slice(0, MAX_TEXT - 1).join("")}…` : part
}

async function describeCheck({ sql, assistants }: Context, check: CheckState) {
  const { id, state, startedAt, endedAt, engines } = check
  const sum = (field: "requested" | "answered" | "failed") => engines.reduce((all, engine) => all + engine[field], 0)
  const usage = await readCheckUsage(sql, id)
  const cents = usage.map(({ assistant, inputTokens, outputTokens, searches }) => {
    const price = assistants.engines.find((engine) => engine.assistant === assistant)?.price
    if (!price || inputTokens === null || outputTokens === null) return null
    return centsOf({ inputTokens, outputTokens, searches }, price)
  })
  const isComplete = cents.every((cent) => cent !== null)
  return {
    id,
    state,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    asked: sum("requested"),
    answered: sum("answered"),
    failed: sum("failed"),
    cents: isComplete ? Math.round(10 * cents.reduce<number>((all, cent) => all + (cent ?? 0), 0)) / 10 : null,
  }
}

async function estimateNext({ sql, assistants }: Context, app: TrackedApp, storefront: string) {
  if (assistants.engines.length === 0) return null
  const turns = planTurns(await readWantedTerms(sql, app.id, [storefront]), assistants)
  if (turns.length === 0) return null
  const shared = await countShared(sql, turns)
  const already = [...shared.values()].reduce((sum, count) => sum + count, 0)
  return { answers: turns.length, shared: already, ...(await estimateCost(sql, { turns, shared }, assistants)) }
}
