import type { Sql } from "../../src/database/types.ts"
import { NO_ASSISTANTS } from "../../src/lib/writing/assistant-checks.ts"
import type { PictureState, ReadPictures } from "../../src/lib/writing/picture-text.ts"
import type { Write, WritingFailure, WritingTask } from "../../src/lib/writing/written-text.ts"
import { listed } from "../measuring/record/listed.ts"
import { hintsReading } from "../measuring/record/measured.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { openService } from "../service.ts"
import { answered } from "../visibility/answered.ts"
import type { Situation } from "./outcomes.ts"

// The data that texts are generated from, and a writer whose texts are checked like a model's.

const OWN = "1437843273"

/** The writer's text for each kind. For any other kind, the writer is busy. */
const SAID: Record<string, object> = {
  review_reply: { addresses: [], reply: "Thank you for telling us. We are sorry, and we are looking into it." },
  listing_draft: {
    name: [{ facts: ["Tea Timer"], text: "Tea Timer" }],
    subtitle: [{ facts: ["Steep it right"], text: "Steep tea right" }],
    promotionalText: [{ facts: ["Steep it right"], text: "A timer for tea." }],
    description: [{ facts: ["Steep it right"], text: "A timer to steep tea right." }],
  },
  listing_translation: {
    name: "Tea Timer",
    subtitle: "Genau richtig gezogen",
    promotionalText: "Jetzt auch mit Oolong.",
    description: "Eine Uhr.\n\nFür Tee.",
    keywords: [],
    captions: [],
  },
}

/** Returns a writer that gives every text this outcome. */
export function writerThat(ends: "writes" | "takes too long" | WritingFailure): Write {
  const write = async <Value>(task: WritingTask<Value>) => {
    if (ends === "takes too long") return { state: "pending" } as const
    if (ends !== "writes") return { state: "failed", why: ends } as const
    const judged = task.kind in SAID ? task.judge(SAID[task.kind] as never, true) : null
    if (judged === null) return { state: "failed", why: "busy" } as const
    if (!("value" in judged)) throw new Error(`the writer's ${task.kind} is refused: ${judged.fixes.join("; ")}`)
    return { state: "done", ...judged, model: "m-1", version: task.version, at: new Date() } as const
  }
  const writer: Write = Object.assign(write, {
    isOn: true,
    contextTokens: 100_000,
    find: async () => null,
    inSteps: async <Value>(steps: (write: Write) => Promise<Value>): Promise<Value> => await steps(writer),
  })
  return writer
}

/** Returns an OCR that gives every reading this outcome. */
export function picturesThat(end: "are read" | "take too long"): ReadPictures {
  const text = { width: 1_080, height: 2_341, lines: [] }
  const state: PictureState =
    end === "are read" ? { state: "read", text, at: new Date(), version: 1, by: "tesseract" } : { state: "pending" }
  return Object.assign(async (requests: readonly unknown[]) => requests.map(() => state), {
    find: async (requests: readonly unknown[]) => requests.map(() => null),
    unread: () => [],
  })
}

const yesterday = () => new Date(Date.now() - 86_400_000)

/** Stores enough reviews for a summary with a theme, including the review that the sample of a reply answers. */
async function readReviews({ input }: Situation, sql: Sql): Promise<void> {
  const at = yesterday()
  const reviews = Array.from({ length: 30 }, (_, n) => ({
    id: String(9_990_001_000 + n),
    stars: 1,
    text: `It crashes when I open entry ${n} of my journal.`,
    at,
  }))
  if (typeof input.reviewId === "string") reviews[0]!.id = input.reviewId
  const end = { end: { pages: 1, complete: true, empty: false } }
  for (const storefront of new Set(["us", String(input.country ?? "us")]))
    await record(sql, [reviewed(at.toISOString(), reviews, { storeId: OWN, storefront, ...end })])
}

/** The data that each operation needs before its sample answers. */
export const MADE_TO_WRITE: Record<string, (situation: Situation, sql: Sql) => Promise<void>> = {
  async summarize_reviews(situation, sql) {
    situation.input.country = "us"
    await readReviews(situation, sql)
  },
  async draft_review_reply(situation, sql) {
    await readReviews(situation, sql)
    situation.service = openService({ sql, write: writerThat("writes") })
  },
  async draft_listing(situation, sql) {
    // before any other reading names the app
    await record(sql, [listed("2025-11-01T00:00:00Z", {}, { id: OWN })])
    situation.service = openService({ sql, write: writerThat("writes") })
  },
  async localize_listing(situation, sql) {
    await record(sql, [listed("2025-11-01T00:00:00Z", {}, { id: OWN })])
    // complete rows, because the app's audit shows them
    const rows = ["us", "de"].map((country) => ({
      country,
      state: "sold",
      readAt: yesterday().toISOString(),
      language: "en-US",
      writtenIn: "en",
      name: "Tea Timer",
      subtitle: null,
      text: "text",
      screenshotsPhone: 1,
      screenshotsPad: 0,
      rating: null,
      ratings: null,
      price: 0,
      currency: "USD",
    }))
    await sql`
      insert into storefront_audit (app_id, started_at, storefronts, priority, finished_at, failed, rows)
      select ios_app, now(), '{us,de}'::text[], 1, now(), false, ${sql.json(rows)}::jsonb
      from tracked_app
      where id = ${situation.app}`
    situation.service = openService({ sql, write: writerThat("writes"), pictures: picturesThat("are read") })
  },
  async get_screenshot_text(situation, sql) {
    await record(sql, [listed("2025-11-01T00:00:00Z", {}, { id: OWN })])
    situation.service = openService({ sql, pictures: picturesThat("are read") })
  },
  async get_ai_visibility(_, sql) {
    await record(sql, [answered({ term: "journal", text: "1. **Lumen Journal**: prompts." })])
  },
  async start_ai_check(situation, sql) {
    // a separate keyword, so that nothing is shared with the previous call
    await sql`update tracked_term set term = ${situation.app} where app_id = ${situation.app}`
    const engines = [{ assistant: "openai", model: "m-1", price: null }] as const
    situation.service = openService({ sql, assistants: { ...NO_ASSISTANTS, engines } })
  },
  async suggest_keywords(_, sql) {
    // the model gets the page's text
    await record(sql, [listed("2025-11-01T00:00:00Z", {}, { id: OWN })])
    await record(sql, [hintsReading("journal", yesterday().toISOString(), ["journal app", "journal prompts"])])
  },
}
