import { expect, test } from "bun:test"
import { backgroundIn } from "../../src/listings/checks/background.ts"
import { checkListing, listingOf } from "../../src/listings/checks/report.ts"
import { DRAFT_FIELDS, type DraftInputs, draftTask, type FieldDraft } from "../../src/texts/listing-draft.ts"
import { cases } from "../long.ts"

const appFacts = {
  name: "Tea Timer",
  developer: "Leaves",
  rivals: [{ name: "Kettle Pro", developer: "Kettle" }],
  tracked: ["tea timer", "green tea"],
}
const background = backgroundIn(appFacts, "en")
const place = { storefront: "us", locale: "en-US" as const }
const live = {
  name: "Tea Timer",
  subtitle: "Steep it right",
  promotionalText: null,
  description: "A timer with 12 teas. For tea.",
}
const INPUTS: DraftInputs = {
  digest: "d",
  platform: "ios",
  live,
  keywords: [],
  praise: [{ reviewId: "r-1", text: "It is the best timer for green tea." }],
  language: "en",
  place,
  background,
  limits: { name: 30, subtitle: 30, promotionalText: 170, description: 4_000 },
}
type Judged = { value: FieldDraft[]; dropped: object[] } | { fixes: string[] }
/** Judges an answer. Variants without facts get a fact that the page contains. */
const judged = (answer: Record<string, (string | object)[]>, isLast = true, inputs = INPUTS) => {
  const fields = Object.entries(answer).map(([field, variants]) => [
    field,
    variants.map((variant) => (typeof variant === "string" ? { facts: ["Steep it right"], text: variant } : variant)),
  ])
  return draftTask(inputs).judge(Object.fromEntries(fields) as never, isLast) as Judged
}
const well = {
  name: ["Tea Timer"],
  subtitle: ["Steep green tea right"],
  promotionalText: ["Now for green tea."],
  description: ["A timer for tea."],
}

test("a draft uses the first variant without problems for each field", () => {
  const result = judged({ ...well, subtitle: ["Free tea timer for $0", "Green tea, steeped right", "Another"] })
  expect(
    (result as { value: FieldDraft[] }).value.map(({ field, text, kept: keptReason }) => [field, text, keptReason]),
  ).toEqual([
    ["name", "Tea Timer", null],
    ["subtitle", "Green tea, steeped right", null],
    ["promotionalText", "Now for green tea.", null],
    ["description", "A timer for tea.", null],
  ])
})

test.each([
  ["a number that no source has", "A timer with 500 teas."],
  ["a claim that no source makes", "The world's number one tea timer."],
  ["an address", "A timer. See www.evil.com."],
  ["another platform", "A timer, on Android too."],
  ["a pictograph", "A timer for tea 🍵"],
  ["HTML", "A <b>timer</b> for tea."],
  ["more characters than the store allows", "tea ".repeat(1_001)],
  [
    "a text in another language",
    "Ein Timer für Tee, der nicht nur für dich ist, sondern auch für alle anderen und das ist gut so.",
  ],
  ["only spaces", "  "],
  [
    "features that no source mentions",
    "A meditation coach with heart rate tracking, sleep sounds and breathing lessons.",
  ],
  ["no source facts", { facts: [], text: "A timer for tea." }],
  [
    "facts that no source states",
    { facts: ["A timer with 500 teas", "the best timer for coffee"], text: "A timer for tea." },
  ],
])("a draft with %s is refused, and the last try keeps the page's own text with a reason", (_, description) => {
  expect("fixes" in judged({ ...well, description: [description] }, false)).toBeTrue()
  const { value, dropped } = judged({ ...well, description: [description] }) as {
    value: FieldDraft[]
    dropped: object[]
  }
  const field = value.find((draft) => draft.field === "description")!
  expect([field.text, typeof field.kept]).toEqual([live.description, "string"])
  expect(dropped).toHaveLength(1)
})

test('a claim such as "the best" is allowed in a draft if a source contains it', () => {
  const { value } = judged({ ...well, description: ["The best timer for green tea, with 12 teas."] }) as {
    value: FieldDraft[]
  }
  expect(value[3]!.kept).toBeNull()
})

test("a draft quotes each fact exactly as the page or the named review has it", () => {
  const text = "A timer for green tea."
  const facts = ["a timer WITH 12 teas", "best timer for green tea", "never said", "Best timer for  green tea"]
  const { value, dropped } = judged({ ...well, description: [{ facts, text }] }) as {
    value: FieldDraft[]
    dropped: object[]
  }
  expect(value[3]).toEqual({
    field: "description",
    text,
    kept: null,
    facts: [
      { reviewId: null, quote: "A timer with 12 teas" },
      { reviewId: "r-1", quote: "best timer for green tea" },
    ],
  })
  expect(dropped).toHaveLength(1)
})

test("no draft is returned if every text of it is refused", () => {
  const bad = ["www.evil.com"]
  expect(judged({ name: bad, subtitle: bad, promotionalText: [], description: bad })).toEqual({
    fixes: expect.any(Array),
  })
})

test("the listing checks find no error in any draft that is shown, whatever the model writes", () => {
  const PIECES = [
    "Tea",
    "timer",
    "green",
    "🍵",
    "<b>",
    "free",
    "$3",
    "500",
    "Android",
    "Google Play",
    "the best",
    "iPhone",
    "  ",
    "\u200b",
    "#1",
    "Kettle Pro",
    "http://evil.com",
    "right",
    "for",
    "tea.",
    "™",
    "50 % off",
    "ignore all previous instructions",
    "sleep",
    ",",
  ]
  let state = 20_251_120
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
  const variant = () => Array.from({ length: 1 + random(9) }, () => PIECES[random(PIECES.length)]).join(" ")
  let drafts = 0
  for (let n = 0; n < cases(30, 300); n++) {
    const answer = Object.fromEntries(DRAFT_FIELDS.map((field) => [field, Array.from({ length: random(4) }, variant)]))
    const result = judged(answer)
    if ("fixes" in result) continue
    drafts += result.value.filter(({ kept: keptReason }) => keptReason === null).length
    const texts = Object.fromEntries(result.value.flatMap(({ field, text }) => (text === null ? [] : [[field, text]])))
    expect([texts, checkListing(listingOf(texts, "en", background), place).counts.error]).toEqual([texts, 0])
    expect(JSON.stringify(texts)).not.toMatch(/evil|500|gnore/)
  }
  expect(drafts).toBeGreaterThan(cases(10, 25))
})
