import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { AppCountry } from "../../lib/fields.ts"
import { wilson } from "../../lib/proportions.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day } from "../../lib/shapes.ts"
import { listTerms } from "../../tracking/terms.ts"
import { toAppNames } from "../../visibility/formulas/app-names.ts"
import { mentionsIn } from "../../visibility/formulas/mentions.ts"
import { readComparable } from "../../visibility/read/answers.ts"
import { readNamedApps } from "../../visibility/read/named-apps.ts"

const DAYS = 365
/** Maximum number of answers whose texts are searched for the app. The latest ones are used. */
const MAX_ANSWERS = 2_000
/** Index of the app itself among the known apps. */
const OWN = 0

const Share = v.nullable(v.number())

export const listAiShares = operation({
  id: "list_ai_shares",
  method: "GET",
  path: "/page/:appId/ai-shares",
  group: "Your apps",
  toolset: "ai",
  summary: "How often each check's answers named the app, per assistant and model.",
  effect: "reads",
  scope: "ai:read",
  price: 0,
  faults: [],
  input: ofApp({ country: AppCountry }),
  output: v.strictObject({
    checks: described(
      v.array(
        v.strictObject({
          day: Day,
          engine: v.string(),
          model: v.string(),
          named: Count,
          of: described(Count, "Answers for which it is certain whether they name the app."),
          low: Share,
          high: Share,
        }),
      ),
      "Oldest first.",
    ),
  }),
}).run(async ({ app, storefront }, { sql, now }) => {
  const terms = [...new Set((await listTerms(sql, app.id, storefront)).map(({ term }) => term))]
  const to = dayOf(now())
  const all = await readComparable(sql, { storefront, terms, from: addDays(to, -DAYS), to })
  const answers = all.slice(-MAX_ANSWERS)
  if (answers.length === 0) return { checks: [] }
  const apps = await readNamedApps(sql, app, { storefront, terms: [...new Set(answers.map(({ term }) => term))] })
  const texts = answers.map(({ text }) => text)
  const names = toAppNames(apps, texts)
  const found = answers.map(({ assistant, model, seenAt, text, cited }) => {
    const cites = cited.map(({ url }) => url)
    const { named, uncertain } = mentionsIn(text, cites, names)
    return {
      engine: assistant,
      model,
      day: dayOf(seenAt),
      isNamed: named.includes(OWN),
      isSure: !uncertain.includes(OWN),
    }
  })
  const groups = Map.groupBy(found, ({ day, engine, model }) => `${day} ${engine} ${model}`)
  const checks = [...groups.values()].flatMap((group) => {
    const sure = group.filter(({ isSure }) => isSure)
    const { day, engine, model } = group[0]!
    const figures = { named: sure.filter(({ isNamed }) => isNamed).length, of: sure.length }
    const interval = wilson(figures)
    return sure.length === 0
      ? []
      : [{ day, engine, model, ...figures, low: interval?.low ?? null, high: interval?.high ?? null }]
  })
  return { checks: checks.toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0)) }
})
