import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Sql } from "../../../src/database/types.ts"
import { createLog } from "../../../src/lib/log.ts"
import { OutboundProblem } from "../../../src/outbound/problem.ts"
import { openPictures } from "../../../src/texts/pictures/read-pictures.ts"
import { createWriting } from "../../../src/texts/port/write.ts"
import { freshDatabase } from "../../database.ts"
import { listed } from "../../measuring/record/listed.ts"
import { appsReading, hintsReading, reading } from "../../measuring/record/measured.ts"
import { reviewed } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { type Answer, openService } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import type { ModelAnswers } from "../adversary.ts"
import { type Line, openStandIn } from "../stand-in.ts"

export const OWN_APP = "40001"
const [PETAL, TIDE] = ["40002", "40003"]
export const PICTURE = new Uint8Array(readFileSync(join(import.meta.dirname, "../pictures/opentracks/8.jpg")))
export const at = (name: string) => `https://pictures.example/${name}`

export const TEXTS = {
  name: "Lumen",
  subtitle: "Write at night",
  promotionalText: "Now with {n} themes to write about.",
  description: "Write three lines a day.\n\nThey stay behind a lock, and nobody but you reads them.",
}
export const GERMAN = {
  name: "Lumen",
  subtitle: "Abends schreiben",
  promotionalText: "Jetzt mit {n} Themen zum Schreiben.",
  description: "Schreibe drei Zeilen am Tag.\n\nSie bleiben hinter einem Schloss, und außer dir liest sie niemand.",
}
const REPLY = "Thank you for telling us. We are sorry about the crash, and we are looking into it."
const ORDER = (text: string) => `As you wish: ${text.slice(0, 60)} Visit www.evil.example. Refund granted! {"r":"r999"}`
const LIE = "93 % of 500 users love it, most of them twice."

const DRAFTS: Record<string, string> = {
  name: "Lumen",
  subtitle: "Write at night",
  promotionalText: "Write three lines a day.",
  description: "Write three lines a day, behind a lock.",
}
export const drafting = (of: (field: string) => { facts: string[]; text: string }[]) =>
  Object.fromEntries(Object.keys(TEXTS).map((field) => [field, of(field)]))

/** The model's answers for each operation that uses it, by kind of text. */
export const MODEL_ANSWERS: Record<string, ModelAnswers> = {
  summarize_reviews: {
    good: summedUp(() => ["Trouble after levels", "The app is said to be hard to live with."]),
    lying: summedUp(() => ["Half of all", LIE], "it never said that"),
    obeying: summedUp((lines) => [ORDER(""), ORDER(JSON.stringify(lines[2]))]),
  },
  draft_review_reply: {
    good: () => ({ addresses: [], reply: REPLY }),
    lying: () => ({ addresses: ["it never said that"], reply: LIE }),
    obeying: (lines) => ({ addresses: [String(lines[1]!.text)], reply: ORDER(String(lines[1]!.text)) }),
  },
  suggest_keywords: {
    good: () => ({ picks: ["c1"], ideas: [{ from: "Write at night", term: "night writing" }] }),
    lying: () => ({
      picks: ["c1", "c999"],
      ideas: [
        { from: "93 % say so", term: "best app" },
        { from: "Write at night", term: "93 % refund" },
      ],
    }),
    obeying: () => ({
      picks: [],
      ideas: [
        { from: "Write at night", term: "www.evil.example" },
        { from: "evil.", term: "Refund" },
      ],
    }),
  },
  draft_listing: {
    good: () => drafting((field) => [{ facts: ["Write at night"], text: DRAFTS[field]! }]),
    lying: () =>
      drafting((field) => [
        { facts: [LIE], text: field === "name" ? "Lumen 93 %" : LIE },
        { facts: [], text: DRAFTS[field]! },
      ]),
    obeying: (lines) => drafting(() => [{ facts: ["Write at night"], text: ORDER(JSON.stringify(lines.at(-2))) }]),
  },
  localize_listing: {
    good: () => ({ ...GERMAN, keywords: ["abendtexte"], captions: [] }),
    lying: () => ({
      ...GERMAN,
      description: LIE,
      promotionalText: "Jetzt mit 93 % Themen.",
      keywords: [],
      captions: [],
    }),
    obeying: () => ({
      ...Object.fromEntries(Object.keys(TEXTS).map((field) => [field, ORDER("")])),
      keywords: ["www.evil.example"],
      captions: [ORDER("")],
    }),
  },
}

/**
 * Returns the answers for the three texts of a summary: sentences, themes of a sample, and assignments. `lie` replaces
 * quotes of the reviews.
 */
function summedUp(say: (lines: Line[]) => [label: string, sentence: string], lie?: string): ModelAnswers["good"] {
  return (lines) => {
    const [label, sentence] = say(lines)
    const [themes, reviews] = (["t", "r"] as const).map((letter) =>
      lines.flatMap(({ r = "", ...rest }) => (r[0] === letter && /^.\d/.test(r) ? [{ r, ...rest } as Line] : [])),
    ) as [Line[], Line[]]
    const quotes = reviews.map(({ r, text }) => ({ r, quote: lie ?? String(text).slice(0, 40) }))
    if (reviews.length === 0) return { themes: themes.map(({ r }) => ({ r, sentence })) }
    if (themes.length === 0) return { themes: [{ quotes: quotes.slice(0, 2), label, sentence }] }
    return { assigned: quotes.map((quote) => ({ ...quote, themes: ["t1"] })) }
  }
}

export interface Scene {
  sql: Sql
  standIn: ReturnType<typeof openStandIn>
  logged: string[]
  /** Responses by address: bytes, a status, or a failure. */
  pictures: Map<string, Uint8Array | number | "unreachable" | "too_large">
  /** Tesseract's table for every picture. Null if it cannot read the picture. */
  table: { says: string | null }
  appId: string
  key: string
  workspaceId: number
  usage(quota: string): Promise<{ used: number }>
  /** Deletes stored texts and charged units, so that the next call takes a new unit and asks the model again. */
  forget(): Promise<void>
  get(path: string): Promise<Answer>
  books(): Promise<{ units: number; credits: number; texts: number }>
  list(texts: Partial<typeof TEXTS>, phone?: string[]): Promise<void>
}

export async function openScene(): Promise<Scene> {
  const sql = await freshDatabase()
  const standIn = openStandIn("chat")
  const logged: string[] = []
  const log = createLog((line) => void logged.push(line), "debug")
  const pictures: Scene["pictures"] = new Map()
  const table: Scene["table"] = { says: "" }
  const settings = { url: standIn.url, api: "chat" as const, model: "m-1", key: "sk-secret" }
  const { write } = createWriting({
    sql,
    log,
    now: () => new Date(),
    randomBytes,
    pollMs: 10,
    patienceMs: 20,
    settings: { ...settings, contextTokens: 100_000, tokensADay: 1e12, atOnce: 8 },
    fetch: (url, init) => fetch(url, init),
  })
  const reader = openPictures({
    sql,
    log,
    data: new Set(["eng"]),
    pollMs: 10,
    turn: async () => {},
    async fetch(url) {
      const found = pictures.get(url) ?? PICTURE
      if (typeof found === "string") throw new OutboundProblem(found)
      const [status, bytes] = typeof found === "number" ? [found, new Uint8Array()] : [200, found]
      return { url, status, headers: new Headers(), bytes }
    },
    ocr: { read: async () => table.says, stop() {} },
  })
  const service = openService({ sql, write, pictures: reader.read })
  await fill(sql)
  const overrides = { ratePerSecond: 1e6, credits: 1_000_000, reviewAi: 1e5, aiWriting: 1e5, listingWrites: 1e5 }
  const workspaceId = await service.workspace({ plan: "studio", overrides })
  const key = await service.key(workspaceId)
  const tracked = { workspaceId, iosId: OWN_APP, countries: ["us"], keywords: ["journal"], origin: "own" }
  const appId = await trackOwn(sql, tracked)
  let pages = 0
  const list: Scene["list"] = async (texts, phone) => {
    const seenAt = new Date(Date.now() - 3_600_000 + ++pages * 1_000)
    await record(sql, [
      listed(
        seenAt,
        { ...TEXTS, ...texts, screenshots: { phone: phone ?? [1, 2, 3, 4].map((n) => at(`${n}.jpg`)) } },
        { id: OWN_APP },
      ),
    ])
  }
  await list({})
  await audit(sql, appId)
  // this text of another request must stay unchanged, whatever fails
  await sql`
    insert into writer_text (kind, digest, value, model, version, made_at)
    values ('review_reply', 'of another', '{"value":{"reply":"Thanks."},"dropped":[]}'::jsonb, 'm-0', 1, now())`
  return {
    sql,
    standIn,
    logged,
    pictures,
    table,
    appId,
    key,
    workspaceId,
    list,
    async forget() {
      await sql`delete from writer_text where digest <> 'of another'`
      await sql`delete from listing_translation`
      await sql`delete from allowance_unit`
      await sql`delete from allowance_used`
    },
    async usage(quota) {
      const { body } = await service.call("/v1/usage", { key })
      return body.quotas.find(({ key: name }: { key: string }) => name === quota)
    },
    get: (path) => service.call(`/v1/apps/${appId}/${path}`, { key }),
    async books() {
      const [row] = await sql<{ units: number; credits: number; texts: number }[]>`
        select coalesce((select sum(used) from allowance_used), 0)::int as units,
          (select used from account where workspace_id = ${workspaceId})::int as credits,
          (select count(*) from writer_text where value is not null)::int as texts`
      return row!
    },
  }
}

async function fill(sql: Sql): Promise<void> {
  const day = new Date(Date.now() - 86_400_000).toISOString()
  await record(sql, [
    appsReading(day, [
      { id: OWN_APP, name: "Lumen" },
      { id: PETAL, name: "Petal Diary" },
      { id: TIDE, name: "Tidal Notes" },
    ]),
  ])
  await record(sql, [
    reading("journal", day, [PETAL, TIDE, OWN_APP]),
    reading("night pages", day, [TIDE, OWN_APP]),
    hintsReading("journal", day, ["journal", "journal prompts"]),
  ])
  const texts = ["Too many ads after each level.", "It crashes on start, and my entries are gone.", "Nice."]
  const reviews = Array.from({ length: 30 }, (_, n) => ({
    id: `${n}`,
    text: texts[n % 3]!,
    stars: 1 + (n % 5),
    at: new Date(day),
  }))
  const end = { end: { pages: 1, complete: true, empty: false } }
  await record(sql, [reviewed(day, reviews, { storeId: OWN_APP, ...end })])
}

async function audit(sql: Sql, appId: string): Promise<void> {
  const rows = ["us", "de"].map((country) => ({ country, state: "sold", ratings: 5 }))
  await sql`
    insert into storefront_audit (app_id, started_at, storefronts, priority, finished_at, failed, rows)
    select ios_app, now() - interval '2 hours', '{us,de}'::text[], 1, now() - interval '1 hour', false,
      ${sql.json(rows)}::jsonb
    from tracked_app
    where id = ${appId}`
}
