import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { cases, long, slow } from "../../long.ts"
import type { Answer } from "../../service.ts"
import { NEVER_SHOWN, openRandom, scriptsOf } from "../adversary.ts"
import { ATTACKS } from "../attacks.ts"
import { type Script, well } from "../stand-in.ts"
import { at, MODEL_ANSWERS, openScene, PICTURE, type Scene, TEXTS } from "./adversary-scene.ts"

setDefaultTimeout(600_000)

/** Scripts per operation. `SCRIPTS=1000` tries the largest number checked so far. */
const SCRIPTS = Number(process.env.SCRIPTS ?? cases(8, 24))

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.standIn.close())

const PATHS: Record<string, string> = {
  summarize_reviews: "reviews/summary",
  draft_review_reply: "reviews/reply-draft?reviewId=1",
  suggest_keywords: "suggest",
  draft_listing: "draft",
  localize_listing: "localize?locale=de_de",
  get_screenshot_text: "shot-text",
}

function play(...script: Script[]) {
  scene.standIn.requests.splice(0)
  scene.standIn.script.splice(0, scene.standIn.script.length, ...script)
}

/** Calls like a client: repeats a pending call until it has a result or an error. */
async function ask(operation: string): Promise<Answer[]> {
  const answers = [await scene.get(PATHS[operation]!)]
  while (operation === "localize_listing" && answers.at(-1)!.status === 202) {
    await Bun.sleep(5)
    answers.push(await scene.get(`${PATHS[operation]}&poll=true`))
  }
  return answers
}

const ALLOWED = [200, 202, 404, 502, 503]

/**
 * Returns true if the answer contains the text that the unit pays for. An answer that has only results of the rules
 * costs no unit.
 */
function isWritten({ status, body }: Answer): boolean {
  return status === 200 && body.written?.by !== "rules"
}

/**
 * Checks that a text costs one unit and any other result costs none, that each answer costs its credits, and that
 * nothing forbidden is shown.
 */
async function expectTrueBooks(what: string, answers: readonly Answer[], credits: number): Promise<boolean> {
  for (const { status, text } of answers) {
    expect([what, ALLOWED.includes(status), status]).toEqual([what, true, status])
    expect([what, NEVER_SHOWN.exec(text)?.[0]]).toEqual([what, undefined])
  }
  const isMade = answers.some(isWritten)
  const paid = answers.filter(({ status }) => status < 300).length
  const books = await scene.books()
  expect([what, books.units, books.credits - credits]).toEqual([what, isMade ? 1 : 0, paid])
  return isMade
}

describe.each(Object.keys(MODEL_ANSWERS))("%s with a randomly failing provider", (operation) => {
  const random = openRandom()
  const scripts = scriptsOf(MODEL_ANSWERS[operation]!, random)

  slow("only a finished text is charged, and no text of a failed provider response is shown", async () => {
    let writtenCount = 0
    const rounds = SCRIPTS
    for (let n = 0; n < rounds; n++) {
      await scene.forget()
      const { credits } = await scene.books()
      play(...Array.from({ length: 1 + random(4) }, () => scripts[random(scripts.length)]!()))
      const callers = operation === "localize_listing" ? 1 : 1 + random(3)
      const answers = (await Promise.all(Array.from({ length: callers }, () => ask(operation)))).flat()
      if (await expectTrueBooks(`${operation} ${n}`, answers, credits)) writtenCount++
    }
    expect(writtenCount).toBeGreaterThan(rounds / 10)
    const [other] =
      await scene.sql`select value ->> 'value' as value, model from writer_text where digest = 'of another'`
    expect(other).toEqual({ value: '{"reply": "Thanks."}', model: "m-0" })
    expect(scene.logged.join("\n")).not.toMatch(/sk-secret|secret words|evil\./)
  })
})

const word = (text: string, x = 90) => `5\t1\t1\t1\t1\t1\t${x}\t157\t554\t96\t95.4\t${text}`

describe("get_screenshot_text with randomly failing pictures", () => {
  const random = openRandom()
  const ENDS = [PICTURE, PICTURE, 404, 500, "unreachable", "too_large", new TextEncoder().encode("<html>")] as const

  test("reading screenshots is charged only if at least one picture could be read", async () => {
    let writtenCount = 0
    const rounds = SCRIPTS
    for (let n = 0; n < rounds; n++) {
      await scene.forget()
      const { credits } = await scene.books()
      const isAway = random(5) === 0
      for (const picture of [1, 2, 3, 4])
        scene.pictures.set(at(`${picture}.jpg`), isAway ? "unreachable" : ENDS[random(ENDS.length)]!)
      scene.table.says = [
        word("Calm"),
        "",
        "no table",
        null,
        word(ATTACKS[random(ATTACKS.length)]!.replace(/\s/g, " ")),
      ][random(5)]!
      const answers = (await Promise.all(Array.from({ length: 1 + random(3) }, () => scene.get("shot-text")))).flat()
      const statuses = answers.map(({ status }) => status)
      expect([n, statuses.every((status) => [200, 503].includes(status))]).toEqual([n, true])
      const books = await scene.books()
      expect([n, books.units]).toEqual([n, statuses.includes(200) ? 1 : 0])
      expect([n, books.credits - credits]).toEqual([n, statuses.filter((status) => status === 200).length])
      if (statuses.includes(200)) writtenCount++
    }
    expect([writtenCount > rounds / 3, writtenCount < rounds]).toEqual([true, true])
    scene.pictures.clear()
  })
})

/** Short runs try every twelfth attack; long runs try all attacks. */
const each = cases(12, 1)
const attacks = ATTACKS.filter((_, n) => n % each === 0)

describe("an attack that the model obeys", () => {
  long("an obeyed attack in a localised listing changes no other field, keyword or allowance", async () => {
    for (const [n, attack] of attacks.entries()) {
      await scene.forget()
      const description = `${TEXTS.description}\n\n${attack.replace(/\s+/g, " ")}`
      await scene.list({ description })
      play(well((lines) => ({ ...MODEL_ANSWERS.localize_listing!.obeying(lines), description: attack })))
      const answers = await ask("localize_listing")
      expect([n, answers.at(-1)!.status, (await scene.books()).units]).toEqual([n, 502, 0])
      expect(answers.at(-1)!.text).not.toInclude(attack)
      // the model translates all other fields correctly, so these must not change
      play(
        well((lines) => ({
          ...MODEL_ANSWERS.localize_listing!.good(lines),
          description: `${attack} www.evil.example`,
        })),
      )
      const { body } = (await ask("localize_listing")).at(-1)!
      const texts = Object.fromEntries(body.fields.map(({ field, text }: Record<string, string>) => [field, text]))
      expect([n, texts]).toEqual([
        n,
        { ...MODEL_ANSWERS.localize_listing!.good([]), description, keywords: undefined, captions: undefined },
      ])
      expect(body.fields[3].kept).not.toBeNull()
      expect((await scene.books()).units).toBe(1)
    }
  })

  slow("an obeyed attack in a screenshot affects only that picture's text and no localised caption", async () => {
    await scene.list({})
    scene.table.says = word("Calm")
    await scene.forget()
    const clean = (await scene.get("shot-text")).body
    for (const [n, attack] of attacks.entries()) {
      await scene.forget()
      const calm = await scene.get("shot-text")
      expect(calm.body.screenshots).toEqual(clean.screenshots)
      await scene.sql`
        update writer_text
        set value = jsonb_set(value, '{value,text,lines,0,text}', to_jsonb(${attack}::text))
        where ctid = (select min(ctid) from writer_text where kind = 'picture')`
      const { body } = await scene.get("shot-text")
      const changed = body.screenshots.filter(
        (shot: object, place: number) => JSON.stringify(shot) !== JSON.stringify(clean.screenshots[place]),
      )
      expect([n, changed.length, changed[0].lines[0].text]).toEqual([n, 1, attack])
      expect([body.indexed, (await scene.books()).units]).toEqual([false, 1])
      play(
        well((lines) => ({
          ...MODEL_ANSWERS.localize_listing!.good(lines),
          captions: lines.flatMap(({ r, text }) =>
            /^caption/.test(r ?? "") ? [`${text === "Calm" ? "Ruhig" : `${text} www.evil.example`}`] : [],
          ),
        })),
      )
      let answer = await scene.get(`${PATHS.localize_listing}&shots=true`)
      while (answer.status === 202) answer = await scene.get(`${PATHS.localize_listing}&shots=true&poll=true`)
      const { shots, fields } = answer.body
      expect([n, shots.filter(({ text }: { text: string }) => text === "Ruhig").length]).toEqual([n, 3])
      expect([n, shots.filter(({ text }: { text: string | null }) => text === null).length]).toEqual([n, 1])
      expect(fields.every(({ kept: keptReason }: { kept: string | null }) => keptReason === null)).toBeTrue()
    }
  })

  slow("an obeyed attack in an app's name or in a review appears in no reason and no draft", async () => {
    for (const [n, attack] of attacks.entries()) {
      await scene.forget()
      play(well((lines) => ({ ...MODEL_ANSWERS.suggest_keywords!.obeying(lines), picks: ["c1", attack] })))
      const { status, body, text } = await scene.get("suggest")
      expect([n, status, body.newIdeas]).toEqual([n, 200, []])
      expect(text).not.toMatch(NEVER_SHOWN)
      play(
        well((lines) => ({
          ...MODEL_ANSWERS.draft_listing!.good(lines),
          description: [{ facts: ["Write at night"], text: `${attack} www.evil.example` }],
        })),
      )
      const draft = (await scene.get("draft")).body
      expect([n, draft.fields[3].text, draft.fields[3].kept === null]).toEqual([n, TEXTS.description, false])
    }
  })
})
