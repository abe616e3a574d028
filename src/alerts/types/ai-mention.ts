import * as v from "valibot"
import type { Tx } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { nameOfStorefront } from "../../lib/storefront-names.ts"
import { ASSISTANTS, type Assistant } from "../../lib/upstreams.ts"
import { toAppNames } from "../../visibility/formulas/app-names.ts"
import { type LostMention, lostMentions } from "../../visibility/formulas/lost-mention.ts"
import { mentionsIn } from "../../visibility/formulas/mentions.ts"
import { readComparable, type StoredAnswer } from "../../visibility/read/answers.ts"
import { readNamedApps } from "../../visibility/read/named-apps.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import type { PlaceDays } from "../search-days.ts"
import { quoted } from "../wording.ts"

const Answers = v.strictObject({ named: v.number(), of: v.number() })

/**
 * An assistant stopped naming the app for a keyword: two checks differ from the two before by more than chance
 * (lostMentions). An app in both stores gets one alert.
 */
export const aiMentionLost = alertType({
  name: "ai_mention_lost",
  options: ["keywordScope"],
  facts: v.strictObject({
    term: v.string(),
    assistant: v.picklist(ASSISTANTS),
    model: v.string(),
    now: Answers,
    before: Answers,
    /** The UTC day of the last earlier answer. */
    against: v.string(),
  }),
  example: {
    ...({ term: "tea", assistant: "openai", model: "gpt-6-luna" } as const),
    now: { named: 0, of: 6 },
    before: { named: 6, of: 6 },
    against: "2025-11-12",
  },
  // the app's names are recognised with today's rivals, so a later run may differ
  stands: true,
  find: findLost,
  sentence({ term, assistant, model, now, before, against }, { storefront }) {
    const question = `${quoted(term)} in ${nameOfStorefront(storefront as string)}`
    const counts = `${now.named} of ${now.of} answers (to ${against}: ${before.named} of ${before.of})`
    return `${NAMES[assistant]} (${model}) no longer names you for ${question}: ${counts}`
  },
  fields: ({ term, before, now, against }) => ({ term, before: before.named, after: now.named, against }),
})

const NAMES: Record<Assistant, string> = {
  openai: "OpenAI's assistant",
  anthropic: "Anthropic's assistant",
  google: "Google's assistant",
  perplexity: "Perplexity",
}

interface MainApp {
  id: string
  name: string
  countries: string[]
  iosApp: number | null
  androidApp: number | null
  manualRivals: string[] | null
}

async function findLost(tx: Tx, days: PlaceDays): Promise<FindingOf[]> {
  const { storefront } = days.place
  const span = { from: days.from, to: days.to }
  const terms = await readCheckedTerms(tx, days)
  const app = terms.length > 0 ? await readMainApp(tx, days) : null
  if (!app) return []
  const answers = await readComparable(tx, { storefront, terms, ...span })
  const apps = await readNamedApps(tx, app, { storefront, terms })
  const appNames = toAppNames(
    apps,
    answers.map(({ text }) => text),
  )
  // index 0 is the app itself
  const checked = answers.map((answer) => {
    const { named, uncertain } = mentionsIn(
      answer.text,
      answer.cited.map(({ url }) => url),
      appNames,
    )
    return { ...answer, at: answer.seenAt, named: uncertain.includes(0) ? null : named.includes(0) }
  })
  const series = Map.groupBy(checked, ({ term, assistant }) => `${term}\n${assistant}`)
  return [...series.values()].flatMap((termAnswers) => {
    const lost = lostMentions(termAnswers).filter(({ at }) => dayOf(at) >= span.from && dayOf(at) <= span.to)
    const [first] = termAnswers
    return first ? lost.map((item) => findingOf(first, item)) : []
  })
}

function findingOf({ term, assistant }: Pick<StoredAnswer, "term" | "assistant">, lost: LostMention): FindingOf {
  const { at, model, now, before, beforeAt } = lost
  const facts = { term, assistant, model, now, before, against: dayOf(beforeAt) }
  return { type: "ai_mention_lost", subject: `${term} ${assistant}`, day: dayOf(at), at, facts }
}

/** Returns the keywords that assistants were asked about in these days. */
async function readCheckedTerms(tx: Tx, { place: { storefront }, terms, from, to }: PlaceDays): Promise<string[]> {
  const rows = await tx<{ term: string }[]>`
    select distinct term
    from assistant_answer
    where day between ${from}::date and ${to}::date and storefront = ${storefront}
      and term = any(${terms as string[]}::text[])
    order by term
    limit 1000`
  return rows.map(({ term }) => term)
}

/** Returns the app. Null if the place is the app's second store. */
async function readMainApp(tx: Tx, { place: { appId, platform } }: PlaceDays): Promise<MainApp | null> {
  const [app] = await tx<MainApp[]>`
    select id, coalesce(name, '') as name, countries, ios_app as "iosApp", android_app as "androidApp",
      manual_rivals as "manualRivals"
    from tracked_app
    where id = ${appId} and (${platform} = 'ios' or ios_app is null)`
  return app ?? null
}
