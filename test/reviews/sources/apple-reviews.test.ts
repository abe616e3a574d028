import { afterAll, describe, expect, test } from "bun:test"
import { type ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { appleReviews, appleReviewsJson, REVIEW_PAGES } from "../../../src/reviews/sources/apple-reviews.ts"
import { checkObservation } from "../../record.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"

const about = { seenAt: new Date("2026-10-06T20:00:00Z"), sha256: new Uint8Array(32) }
const US = { storefront: "us", storeId: "1600000201", page: 1 }
const us = fixture("apple-reviews-us.xml")
const server = replayServer()
afterAll(() => server.stop())

const read = (body: string, subject = US) => appleReviews.parse(body, subject, about)

function outcome(body: string, subject = US): string {
  try {
    return `read ${read(body, subject).reviews.length}`
  } catch (error) {
    return (error as ReadFailure).outcome ?? String(error)
  }
}

describe("page of the feed", () => {
  test("an XML page is read with all facts, and authors are left out", () => {
    const reading = read(us)
    expect(reading).toEqual({
      ...about,
      ...US,
      kind: "reviews",
      source: "apple-reviews",
      platform: "ios",
      more: true,
      parser: appleReviews.parser,
      origin: "own",
      reviews: [
        {
          id: "14630000012",
          stars: 5,
          title: "Wakes me gently",
          text: "No more jolts at 6 am. The harbour sound is lovely 🌊",
          version: "4.2.1",
          at: new Date("2026-10-05T04:45:33Z"),
        },
        {
          id: "14630000011",
          stars: 1,
          title: "Crashes & burns",
          text:
            `Tap "record" <3 times and it quits.\n\nSince 4.2 I can't export my nights > 30 days either. ` +
            "Please fix & refund.",
          version: "4.2",
          at: new Date("2026-10-04T16:02:10Z"),
        },
        {
          id: "14629999999",
          stars: 4,
          title: "Good, but…",
          text: "Würde 5 ★ geben 👩‍💻 if it synced.",
          version: "4.1.9",
          at: new Date("2026-10-04T06:59:59Z"),
        },
        { id: "14629000001", stars: 3, text: "meh", version: "4.1.9", at: new Date("2026-10-01T07:00:00Z") },
        {
          id: "14620000007",
          stars: 2,
          title: "Does not say which version",
          text: "Asked for a proof that I am not a robot. Captcha after captcha.",
          at: new Date("2026-10-01T01:20:00Z"),
        },
        { id: "9876543210", stars: 5, title: "5", text: "5", version: "3", at: new Date("2026-09-29T11:05:06Z") },
      ],
    })
    checkObservation(reading, about.seenAt)
    expect(JSON.stringify(reading)).not.toMatch(/reviewer|reviews\/id/i)
  })

  test("an entry of the app itself at the start of an XML page is not read as a review", () => {
    const subject = { storefront: "de", storeId: "1600000202", page: 1 }
    const reading = read(fixture("apple-reviews-app-first-de.xml"), subject)
    expect(reading.reviews.map(({ id, stars, title }) => [id, stars, title])).toEqual([
      ["5483431986", 5, "Sehr schön"],
      ["5483431985", 2, "Öffnet nicht mehr"],
    ])
    expect(reading.more).toBe(false)
    const appOnly = fixture("apple-reviews-app-first-de.xml").replace(
      /(<\/entry>)[\s\S]*(<\/feed>)/,
      (_, entry, feed) => `${entry}${feed}`,
    )
    expect(read(appOnly, subject).reviews).toEqual([])
  })

  test("a JSON page of reviews is parsed into the same fields as an XML page", () => {
    const subject = { storefront: "fr", storeId: "1600000205", page: 10 }
    const reading = appleReviewsJson.parse(fixture("apple-reviews-fr.json"), subject, about)
    expect(reading.reviews[1]).toEqual({
      id: "14640000002",
      stars: 1,
      title: "Ne s’ouvre plus",
      text: 'Depuis iOS 26 : écran blanc "chargement…" \\ rien',
      version: "2.0",
      at: new Date("2026-10-05T15:00:00Z"),
    })
    expect([reading.reviews.length, reading.more, reading.source]).toEqual([3, false, "apple-reviews"])
    expect(JSON.stringify(reading)).not.toMatch(/reviewer|reviews\/id/i)
  })

  test("a page with a single entry has one review, although its JSON has no array", () => {
    const subject = { storefront: "nz", storeId: "1600000206", page: 1 }
    const reading = appleReviewsJson.parse(fixture("apple-reviews-one-nz.json"), subject, about)
    expect(reading.reviews).toEqual([
      {
        id: "14650000001",
        stars: 4,
        title: "Only me",
        text: "First!",
        version: "1.0",
        at: new Date("2026-10-06T08:00:00Z"),
      },
    ])
  })

  test("a page without reviews is empty, and only its links show whether it is the last page", () => {
    const none = read(fixture("apple-reviews-none-jp.xml"), { storefront: "jp", storeId: "1600000203", page: 1 })
    expect([none.reviews, none.more]).toEqual([[], false])
    const unsaid = read(fixture("apple-reviews-unsaid-gb.xml"), { storefront: "gb", storeId: "1600000204", page: 1 })
    expect(unsaid.reviews).toEqual([])
    expect(unsaid).not.toHaveProperty("more")
    const silent = us.replace(/<entry>[\s\S]*<\/entry>/, "")
    expect([read(silent).reviews, read(silent).more]).toEqual([[], true])
  })

  test("only the link to the last page shows whether another page follows", () => {
    const paged = (page: number, last: number) =>
      us.replaceAll("page=1/", `page=${page}/`).replace(/(rel="last" href="[^"]*?)page=\d+/, `$1page=${last}`)
    for (const [page, last, more] of [
      [1, 1, false],
      [1, 2, true],
      [3, 3, false],
      [9, 10, true],
      [10, 10, false],
      [10, 25, false],
    ] as const) {
      expect([page, last, read(paged(page, last), { ...US, page }).more]).toEqual([page, last, more])
    }
  })

  test("each review of a page is returned once, and its text can be stored", () => {
    const subject = { storefront: "nz", storeId: "1600000206", page: 1 }
    const feed = JSON.parse(fixture("apple-reviews-one-nz.json"))
    const entry = feed.feed.entry
    feed.feed.entry = [
      entry,
      entry,
      { ...entry, id: { label: "77" }, content: { ...entry.content, label: "a\0b \ud83d" } },
    ]
    const { reviews } = read(JSON.stringify(feed), subject)
    expect(reviews.map(({ id, text }) => [id, text])).toEqual([
      ["14650000001", "First!"],
      ["77", "ab \ufffd"],
    ])
  })
})

describe("bodies that are not the requested page", () => {
  const feed = (edit: (text: string) => string) => outcome(edit(us))

  test.each([
    ["of no address", (text: string) => text.replace(/<id>.*<\/id>/, "")],
    ["with two addresses", (text: string) => text.replace(/(<id>.*<\/id>)/, "$1$1")],
    ["with an entry of another kind", (text: string) => text.replace(/<im:rating>.*<\/im:rating>/, "")],
    ["with six stars", (text: string) => text.replace("<im:rating>5", "<im:rating>6")],
    ["with half a star", (text: string) => text.replace("<im:rating>5", "<im:rating>4.5")],
    ["with two ratings", (text: string) => text.replace(/(<im:rating>.*<\/im:rating>)/, "$1$1")],
    ["without a date", (text: string) => text.replace("<updated>2026-10-04T21:45:33-07:00</updated>", "")],
    ["with a date without its zone", (text: string) => text.replace("21:45:33-07:00", "21:45:33")],
    ["with a day that is none", (text: string) => text.replace("2026-10-04T21", "2026-13-04T21")],
    ["with a day that its month lacks", (text: string) => text.replace("2026-10-04T21", "2026-09-31T21")],
    ["with a date to come", (text: string) => text.replace("2026-10-04T21", "2027-10-04T21")],
    ["without a text", (text: string) => text.replace('<content type="text">', '<content type="html">')],
    ["with an id of another kind", (text: string) => text.replace("14630000012", "one")],
    ["with its entries called otherwise", (text: string) => text.replaceAll("entry>", "item>")],
    ["cut short", (text: string) => text.slice(0, 3_000)],
    ["JSON", () => '{"feed":null}'],
    ["JSON of something else", () => '{"results":[]}'],
    ["refused", () => "CustomerReviews RSS page depth is limited to 10"],
    ["nothing", () => ""],
  ])("a feed with an unexpected format fails as changed: %s", (_what, edit) => {
    expect(feed(edit)).toBe("changed")
  })

  test.each([
    ["another app's", (text: string) => text.replace("id=1600000201/", "id=1600000209/")],
    ["another storefront's", (text: string) => text.replace("/us/rss/", "/gb/rss/")],
    ["another page", (text: string) => text.replace("page=1/", "page=2/")],
    ["in another order", (text: string) => text.replace("sortby=mostrecent", "sortby=mosthelpful")],
  ])("a feed that answers another request fails as mismatched: %s", (_what, edit) => {
    expect(feed(edit)).toBe("mismatched")
  })

  test("a JSON feed with renamed entries fails as changed instead of passing as empty", () => {
    const body = fixture("apple-reviews-fr.json").replace('"entry"', '"entries"')
    expect(outcome(body, { storefront: "fr", storeId: "1600000205", page: 10 })).toBe("changed")
  })

  test("a CAPTCHA page fails as blocked, and a feed with a review that mentions captchas is read", () => {
    expect(outcome("<html><body>Please complete the CAPTCHA</body></html>")).toBe("blocked")
    expect(outcome(us.slice(0, -30))).toBe("changed")
    expect(outcome(us)).toBe("read 6")
  })
})

test("a feed is recognised by its URL in each recorded form", () => {
  const at = (address: string) => outcome(us.replace(/<id>.*<\/id>/, `<id>${address}</id>`))
  for (const address of [
    "https://itunes.apple.com/us/rss/customerreviews/id=1600000201/sortby=mostrecent/xml",
    "https://itunes.apple.com/us/rss/customerreviews/id=1600000201/sortBy=mostRecent/json",
    "https://mzstoreservices-int-st.itunes.apple.com/us/rss/customerreviews/page=1/id=1600000201/sortby=mostrecent/" +
      "xml?urlDesc=/customerreviews/id=7/mostrecent/xml",
    "https://itunes.apple.com/rss/customerreviews/page=1/id=1600000201/sortby=mostrecent/json?l=en&amp;cc=us",
  ]) {
    expect([address, at(address)]).toEqual([address, "read 6"])
  }
  expect(at("https://itunes.apple.com/rss/customerreviews/page=1/id=1600000201/sortby=mostrecent/xml")).toBe("changed")
})

test("a page is requested by its number, as XML or as JSON, with the user agent of iTunes", async () => {
  server.on("itunes.apple.com", "/us/rss/customerreviews", () => new Response(us))
  for (const [source, form] of [
    [appleReviews, "xml"],
    [appleReviewsJson, "json"],
  ] as const) {
    const { seen: reading } = await readOnce(source, US, reachOf(server, { now: () => about.seenAt }))
    expect(reading.reviews).toHaveLength(6)
    const { method, url, headers } = server.requests.at(-1)!
    expect([method, url.pathname, url.search]).toEqual([
      "GET",
      `/us/rss/customerreviews/page=1/id=1600000201/sortby=mostrecent/${form}`,
      "",
    ])
    expect(headers.get("user-agent")).toMatch(/^iTunes\//)
  }
  for (const page of [0, REVIEW_PAGES + 1, 1.5]) expect(() => appleReviews.request({ ...US, page })).toThrow(RangeError)
})

test("an unknown character reference does not make a page of reviews fail", async () => {
  const body = await Bun.file(new URL("../../cases/stores/reviews-one-odd.xml", import.meta.url)).text()
  const subject = { storefront: "us", storeId: "6744000010", page: 1 }
  const about = { seenAt: new Date("2026-11-20T12:00:00Z"), sha256: new Uint8Array(32) }
  const textsOf = (xml: string) => appleReviews.parse(xml, subject, about).reviews.map(({ text }) => text)
  expect(textsOf(body)).toEqual(["Body", "bad \ufffd char"])
  for (const [odd, text] of [
    ["&#x0B;", "bad \ufffd char"],
    ["&nbsp;", "bad &nbsp; char"],
    ["fish & chips", "bad fish & chips char"],
    ["<![CDATA[<b>&]]>", "bad <b>& char"],
  ] as const)
    expect(textsOf(body.replace("&#8;", odd))).toEqual(["Body", text])
})
