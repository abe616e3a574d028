import { describe, expect, test } from "bun:test"
import {
  type ListingChangeKind,
  LOOK_BACK,
  type PageRun,
  pageChanges,
  type RatingDay,
  ratingChanges,
  type ShownPage,
} from "../../src/listings/changes.ts"

const PAGE: ShownPage = {
  name: "Tea Timer",
  language: "en-US",
  subtitle: "Steep it right",
  promotionalText: "Now with oolong.",
  description: "A timer.\n\nFor tea.",
  icon: "https://is1-ssl.mzstatic.com/image/a/AppIcon.png/512x512bb.jpg",
  screenshots: {
    phone: ["https://is1-ssl.mzstatic.com/p1", "https://is1-ssl.mzstatic.com/p2"],
    pad: ["https://x.test/t1"],
  },
  price: 2.99,
  currency: "USD",
  version: "4.1",
  events: [{ id: "6000001", title: "Harvest", startsAt: "2026-05-20T00:00:00Z", endsAt: "2026-07-01T00:00:00Z" }],
  editorial: [{ id: "1400000001", kind: "story", title: "Slow mornings" }],
}

/** Returns one run per day from 1 June 2026. A part that is `null` is left out of the page. */
function runs(...pages: (Partial<Record<keyof ShownPage | "parser", unknown>> | undefined)[]): PageRun[] {
  return pages.map((edit, day): PageRun => {
    const { parser = 1, ...parts } = edit ?? {}
    const page = Object.fromEntries(Object.entries({ ...PAGE, ...parts }).filter(([, part]) => part !== null))
    return {
      firstSeenAt: new Date(Date.UTC(2026, 5, 1 + day, 6)),
      seenAt: new Date(Date.UTC(2026, 5, 1 + day, 18)),
      parser: parser as number,
      page: page as unknown as ShownPage,
    }
  })
}

function changeLines(all: readonly PageRun[]): string[] {
  return all.flatMap((_, place) =>
    pageChanges(all, place).map(({ kind, subject, before, after }) =>
      [place, kind, subject, JSON.stringify(before), JSON.stringify(after)].filter((part) => part !== "").join(" "),
    ),
  )
}

const kindsOf = (...pages: Parameters<typeof runs>) =>
  changeLines(runs(...pages)).map((line) => line.split(" ").slice(0, 2).join(" "))

const OTHER_CARD = { id: "1400000002", kind: "collection" }
const OTHER_EVENT = { id: "6000002", title: "Tasting" }

// Each variant edits only one part.
const EDITS: [ListingChangeKind, Partial<ShownPage>][] = [
  ["version", { version: "4.2" }],
  ["name", { name: "Tea Clock" }],
  ["subtitle", { subtitle: "Steep it well" }],
  ["description", { description: "A clock." }],
  ["promotional_text", { promotionalText: "Now with mate." }],
  ["icon", { icon: "https://is1-ssl.mzstatic.com/image/b/AppIcon.png/512x512bb.jpg" }],
  ["price", { price: 3.99 }],
  ["price", { price: 0 }],
  ["price", { currency: "EUR" }],
  ["screenshots", { screenshots: { ...PAGE.screenshots, phone: ["https://is1-ssl.mzstatic.com/p2"] } }],
  ["screenshots", { screenshots: { ...PAGE.screenshots, phone: PAGE.screenshots!.phone!.toReversed() } }],
  ["screenshots", { screenshots: { ...PAGE.screenshots, pad: [] } }],
  ["screenshots", { screenshots: { phone: ["https://x.test/1"], pad: ["https://x.test/2"] } }],
  ["event_started", { events: [...PAGE.events!, OTHER_EVENT] }],
  ["event_ended", { events: [] }],
  ["featured", { editorial: [...PAGE.editorial!, OTHER_CARD as never] }],
  ["unfeatured", { editorial: [] }],
]

describe("two pages of one app", () => {
  test("equal pages have no changes", () => {
    expect(changeLines(runs({}, {}, structuredClone(PAGE)))).toEqual([])
    expect(changeLines(runs({}))).toEqual([])
  })

  test("pages that differ in one part have exactly that change, with before, after and times", () => {
    for (const [kind, edit] of EDITS) {
      const pages = runs({}, edit)
      const changes = pageChanges(pages, 1)
      expect([kind, changes.map((change) => change.kind)]).toEqual([kind, [kind]])
      expect(changes[0]).toMatchObject({ at: pages[1]!.firstSeenAt, beforeSeenAt: pages[0]!.seenAt })
      expect(changes[0]!.before).not.toEqual(changes[0]!.after)
    }
    expect(changeLines(runs({}, { name: "Tea Clock" }))).toEqual(['1 name "Tea Timer" "Tea Clock"'])
    expect(changeLines(runs({}, { price: 0 }))).toEqual([
      '1 price {"price":2.99,"currency":"USD"} {"price":0,"currency":"USD"}',
    ])
    expect(changeLines(runs({}, { screenshots: { ...PAGE.screenshots, pad: [] } }))).toEqual([
      '1 screenshots {"pad":["https://x.test/t1"]} {"pad":[]}',
    ])
    expect(changeLines(runs({}, { events: [OTHER_EVENT] }))).toEqual([
      '1 event_started 6000002 null {"id":"6000002","title":"Tasting"}',
      `1 event_ended 6000001 ${JSON.stringify(PAGE.events![0])} null`,
    ])
    expect(changeLines(runs({ editorial: [] }, { editorial: [OTHER_CARD] }))).toEqual([
      '1 featured collection 1400000002 null {"id":"1400000002","kind":"collection"}',
    ])
  })

  test("each part that differs between two pages is one change, and reverting a part is a second change", () => {
    for (const [kind, edit] of EDITS) {
      for (const [other, second] of EDITS) {
        if (Object.keys(edit)[0] === Object.keys(second)[0] || other === kind) continue
        expect(
          pageChanges(runs({}, { ...edit, ...second }), 1)
            .map((change) => change.kind)
            .sort(),
        ).toEqual([kind, other].sort())
      }
      expect(pageChanges(runs({}, edit, {}), 2)).toHaveLength(1)
    }
  })

  test("white space, Unicode form and Apple's picture hosts do not count as changes", () => {
    const picture = (address: string) => address.replace("is1-ssl", "is4-ssl")
    const { phone, pad } = PAGE.screenshots as { phone: string[]; pad: string[] }
    expect(
      changeLines(
        runs(
          { name: "Caf\u00e9" },
          { name: "Cafe\u0301", description: "A timer. \r\n\r\nFor tea. " },
          { name: "Caf\u00e9", icon: picture(PAGE.icon!), screenshots: { phone: phone.map(picture), pad } },
        ),
      ),
    ).toEqual([])
    expect(kindsOf({}, { icon: PAGE.icon!.replace("is1-ssl.mzstatic.com", "pictures.test") })).toEqual(["1 icon"])
  })

  test("a currency counts as changed only if both currencies are known and the price is not zero", () => {
    expect(kindsOf({}, { currency: null }, { currency: "EUR" }, { price: 0 }, { price: 0, currency: "EUR" })).toEqual([
      "3 price",
    ])
  })
})

describe("a part that a page omits", () => {
  test("a part that one page omits and the next page shows again has no change", () => {
    for (const part of Object.keys(PAGE) as (keyof ShownPage)[]) {
      if (part === "language" || part === "name") continue
      expect([part, changeLines(runs({}, { [part]: null }, {}))]).toEqual([part, []])
    }
    expect(changeLines(runs({}, { screenshots: { phone: PAGE.screenshots!.phone } }, {}))).toEqual([])
  })

  test("a part that returns is compared with its last known value", () => {
    for (const [kind, edit] of EDITS) {
      const [part] = Object.keys(edit) as [string]
      // A page that omits the currency still has a price.
      if (part === "currency") continue
      const pages = runs({}, { [part]: null }, edit)
      const [change, ...more] = pageChanges(pages, 2)
      expect([part, change?.kind, more]).toEqual([part, kind, []])
      expect(change!.beforeSeenAt).toEqual(pages[0]!.seenAt)
    }
  })

  test("the last value of a part is forgotten after LOOK_BACK pages without the part", () => {
    const silent = (count: number) => Array.from({ length: count }, (_, i) => ({ subtitle: null, version: `5.${i}` }))
    const back = (count: number) =>
      kindsOf({}, ...silent(count), { subtitle: "Back", version: `5.${count - 1}` }).filter((kind) =>
        kind.endsWith("subtitle"),
      )
    expect(back(LOOK_BACK - 1)).toHaveLength(1)
    expect(back(LOOK_BACK)).toHaveLength(0)
  })

  test("the first event or featuring card is a change, and the first value of any other part is not", () => {
    const before = {
      subtitle: null,
      promotionalText: null,
      icon: null,
      screenshots: null,
      events: null,
      editorial: null,
    }
    expect(kindsOf({ ...before, price: null, version: null, description: null }, {})).toEqual([
      "1 event_started",
      "1 featured",
    ])
    expect(kindsOf({ ...before, language: "fr-FR" }, {})).toEqual(["1 event_started", "1 featured"])
  })

  test("the end of an event is one change, even if later pages omit the section of events", () => {
    const events = [{ id: "6000001", title: "Harvest", endsAt: "2026-06-03T00:00:00Z" }]
    const silent = (version: string) => ({ events: null, version, editorial: null })
    const kinds = kindsOf({ events }, silent("5"), silent("6"), silent("7"), { events: [OTHER_EVENT], version: "7" })
    expect(kinds.filter((kind) => kind.includes("event"))).toEqual(["2 event_ended", "4 event_started"])
    expect(kindsOf({ events }, { events: [] }, { events: [] })).toEqual(["1 event_ended"])
  })
})

describe("pages of different languages and parsers", () => {
  test("pages in different languages are compared in everything except their texts", () => {
    const texts = {
      name: "Minuteur",
      subtitle: "Bien infuser",
      description: "Un minuteur.",
      promotionalText: "Oolong.",
    }
    expect(kindsOf({}, { ...texts, language: "fr-FR" }, {})).toEqual([])
    expect(kindsOf({}, { ...texts, language: null }, {})).toEqual([])
    expect(kindsOf({}, { ...texts, language: "fr-FR", version: "4.2", price: 1 })).toEqual(["1 version", "1 price"])
    // A page in another language lies between two pages in the same language.
    expect(kindsOf({}, { ...texts, language: "fr-FR" }, { name: "Tea Clock" })).toEqual(["2 name"])
    expect(kindsOf({ language: null }, { language: null, name: "Tea Clock" })).toEqual(["1 name"])
  })

  test("pages read by different parser versions are compared only by app version", () => {
    const all = Object.assign({}, ...EDITS.map(([, edit]) => edit)) as Partial<ShownPage>
    expect(kindsOf({}, { ...all, parser: 2 })).toEqual(["1 version"])
    expect(kindsOf({}, { ...all, version: PAGE.version, parser: 2 }, {})).toEqual([])
    expect(kindsOf({}, { parser: 2, name: "As read" }, { parser: 2, name: "Tea Clock" })).toEqual(["2 name"])
  })
})

describe("ratings of an app", () => {
  const days = (...all: [number | null, number | null][]): RatingDay[] =>
    all.map(([rating, ratings], day) => ({ seenAt: new Date(Date.UTC(2026, 5, 1 + day, 6)), rating, ratings }))
  const jumps = (...all: Parameters<typeof days>) =>
    days(...all).flatMap((_, place) =>
      ratingChanges(days(...all), place).map(({ kind, before, after }) => `${place} ${kind} ${before} ${after}`),
    )

  test("a rating_jump is reported if the average moves by a tenth of a star", () => {
    expect(jumps([4.6, null], [4.69, null], [4.6, null], [4.7, null], [4.55, null])).toEqual([
      "3 rating_jump 4.6 4.7",
      "4 rating_jump 4.7 4.55",
    ])
    // The averages are stored in single precision.
    expect(jumps([Math.fround(4.6), null], [Math.fround(4.7), null])).toHaveLength(1)
  })

  test("a ratings_jump is reported if the count moves by at least 100 and at least a tenth", () => {
    expect(jumps([null, 500], [null, 599])).toEqual([])
    expect(jumps([null, 500], [null, 600])).toEqual(["1 ratings_jump 500 600"])
    expect(jumps([null, 5_000], [null, 5_499])).toEqual([])
    expect(jumps([null, 5_000], [null, 5_500])).toHaveLength(1)
    expect(jumps([null, 5_000], [null, 4_500])).toHaveLength(1)
    expect(jumps([null, 5_000], [null, 4_501])).toEqual([])
    expect(jumps([null, 0], [null, 100])).toHaveLength(1)
  })

  test("ratings are compared with the last measured day, and a jump of the count is measured per day", () => {
    expect(jumps([4.6, 5_000], [null, null], [4.8, 5_500])).toEqual(["2 rating_jump 4.6 4.8"])
    expect(jumps([4.6, 5_000], [null, null], [null, 6_000])).toEqual(["2 ratings_jump 5000 6000"])
    expect(jumps([4.6, 5_000], [null, null], [null, 4_500])).toEqual(["2 ratings_jump 5000 4500"])
    expect(jumps([4.6, 5_000])).toEqual([])
  })
})
