import { afterAll, expect, test } from "bun:test"
import type { SearchObservation } from "../../../src/keywords/kinds/search-shape.ts"
import { playSearch } from "../../../src/keywords/sources/play-search.ts"
import { type ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { fixture, wholeBody } from "../../stores/parsing/parsed.ts"
import {
  about,
  blockData,
  cardSection,
  inCountry,
  listSection,
  pageForTerm,
  pageOf,
  renumbered,
  reversed,
  searchData,
  withData,
} from "../../stores/parsing/play-pages.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"

const panda = fixture("play-search-panda.html")
const whereAmI = fixture("play-search-where-am-i.html")
const server = replayServer()
afterAll(() => server.stop())

const PANDA = [
  "com.pandaexpress.app",
  "com.sinyee.babybus.restaurant",
  "com.yq.xmmg.gp",
  "com.panda.mouse",
  "com.hungrypanda.web.merchant",
  "com.sgn.pandapop.gp",
  "com.pandavpn.androidproxy",
  "com.sinyee.babybus.cube.global",
  "com.sinyee.babybus.foodstreetII",
  "com.sinyee.babybus.kitchens",
  "com.sinyee.babybus.world",
  "com.sinyee.babybus.factoryII",
  "com.sinyee.babybus.taxi",
  "com.sinyee.babybus.garden",
  "com.sinyee.babybus.snacks",
  "com.sinyee.babybus.delicious",
  "com.sinyee.babybus.icecream",
  "com.pandasecurity.pandaav",
  "com.sinyee.babybus.shopping",
  "com.sinyee.babybus.foodcity",
]

test("the recorded page for the term panda gives the app on its card first and then the list in order", () => {
  const { results, ...rest } = read(panda)
  expect(ids(panda)).toEqual(PANDA)
  expect(rest).toEqual({
    ...about,
    kind: "search",
    source: "play-search",
    platform: "android",
    storefront: "us",
    term: "panda",
    depth: 20,
    complete: true,
    parser: playSearch.parser,
    origin: "own",
  })
  expect(results[0]).toEqual({
    id: "com.pandaexpress.app",
    name: "Panda Express",
    icon:
      "https://play-lh.googleusercontent.com/" +
      "zAsMei2ck_WjsjJOqt7nGY6if-_0KByzcaEna1SJm0hgxp0duqq-eGonDEKpjnF_eiQdWPKUE51qDolkvYP7qw",
    developer: "Panda Restaurant Group, Inc.",
    ratings: 66_991,
    rating: 4.596675,
    ratingsByStar: [54_759, 5_898, 1_607, 989, 3_732],
  })
  expect(results[1]).toEqual({
    id: "com.sinyee.babybus.restaurant",
    name: "Little Panda's Restaurant",
    icon:
      "https://play-lh.googleusercontent.com/" +
      "kKqTXmLFJJ_ECrjLwaunpQXB0Om26SfZ_Safc6-FLr6C9umwrPu-ts9WznCCZc3PVTuzEF434JR0sWFQH2if2w",
    developer: "BabyBus",
    rating: 4.192623,
  })
})

test("an app without ratings has no rating instead of 0", () => {
  expect(read(panda).results[4]).toEqual({
    id: "com.hungrypanda.web.merchant",
    name: "Panda Restaurant",
    icon: expect.stringMatching(/^https:/) as unknown as string,
    developer: "HungryPanda",
  })
})

test("a recorded page without a card has a depth of 30", () => {
  const { results, depth } = read(whereAmI, "where am i")
  expect([depth, results.length]).toEqual([30, 30])
  expect([results[0]?.id, results[8]?.id, results[29]?.id]).toEqual([
    "net.aleksandre.android.whereami",
    "com.adex77.WhereAmI",
    "com.amazon.mShop.android.shopping",
  ])
})

test("blocks with other numbers or in another order give the same reading", () => {
  for (const [page, term] of [
    [panda, "panda"],
    [whereAmI, "where am i"],
  ] as const) {
    const other = renumbered(page, (old) => (old * 5 + 3) % 7)
    expect(other).not.toContain("'ds:4' : {id:'lGYRle'")
    expect(reversed(page)).not.toBe(page)
    for (const moved of [other, reversed(page), reversed(other)]) expect(read(moved, term)).toEqual(read(page, term))
  }
})

test("results are read from the recorded block number if the page's table does not name their block", () => {
  expect(ids(panda.replaceAll("lGYRle", "unknown"))).toEqual(PANDA)
  expect(outcome(renumbered(panda, (old) => (old + 1) % 7).replaceAll("lGYRle", "unknown"))).toBe("changed")
})

test("a notice before the card, as in Europe, does not shift the results", () => {
  const data = blockData(panda, "ds:4") as [[null, unknown[]]]
  const notice = [...Array(31).fill(null), ["About these results"]]
  data[0][1].unshift(notice)
  expect(ids(withData(panda, "ds:4", data))).toEqual(PANDA)
})

test("a page without its card fails as changed if the list begins at the second place", () => {
  const data = blockData(panda, "ds:4") as [[null, unknown[]]]
  data[0][1].shift()
  expect(outcome(withData(panda, "ds:4", data))).toBe("changed")
})

test("an app that is on the card and in the list keeps only its first place", () => {
  const page = search([cardSection({ id: "a.card" }), listSection([{ id: "a.b" }, { id: "a.card" }, { id: "a.c" }])])
  expect(ids(page)).toEqual(["a.card", "a.b", "a.c"])
  expect(read(page).depth).toBe(3)
})

test("ads and other lists are left out", () => {
  const rows = [
    { id: "paid.link", link: "/store/apps/details?id=paid.link&adurl=https%3A%2F%2Fads" },
    { id: "a.first" },
    { id: "paid.click", link: "https://www.googleadservices.com/pagead/aclk?sa=L" },
    { id: "paid.word", label: "Sponsored" },
    { id: "a.second", rating: 4.5 },
  ]
  const otherSections = [
    listSection([{ id: "like.this" }], { name: "similar_apps_cluster", heading: "You might also like" }),
    listSection([{ id: "like.that" }], { name: "", heading: "Suggested for you" }),
  ]
  expect(ids(search([otherSections[0], listSection(rows), otherSections[1]]))).toEqual(["a.first", "a.second"])
  expect(read(search([listSection(rows)])).depth).toBe(2)
})

test("a list in two parts is read as one list", () => {
  const first = listSection([{ id: "a.b" }], { name: "search_results_cluster_apps_range_0_1" })
  const second = listSection([{ id: "a.c" }], { name: "search_results_cluster_apps_range_1_30" })
  expect(ids(search([first, second]))).toEqual(["a.b", "a.c"])
})

test("a page that states that there are no results is a reading without results, as deep as a full page", () => {
  const words = (text: string) => [
    ...Array(25).fill(null),
    [
      [
        [
          [null, text],
          [null, "Make sure it is spelled correctly"],
        ],
      ],
    ],
  ]
  const none = words("No results for <b>zxqwkjh</b>")
  const notice = [...Array(31).fill(null), ["About these results"]]
  const suggested = listSection([{ id: "of.another" }])
  expect(read(fixture("play-search-none.html"), "zxqv wobble lantern")).toMatchObject({
    results: [],
    depth: 30,
    complete: true,
  })
  for (const sections of [[], [notice], [none], [notice, none], [none, suggested]]) {
    expect(read(search(sections))).toMatchObject({ results: [], depth: 30, complete: true })
  }
  expect(ids(search([words("Showing results for <b>panda</b>"), suggested]))).toEqual(["of.another"])
})

test("a page that shows apps in an unknown place fails as changed and is never an absence", () => {
  const renamed = listSection([{ id: "a.b" }], { name: "renamed_cluster", heading: "" })
  const link = '<a href="/store/apps/details?id=a.b">A B</a>'
  const broken = [
    search([renamed]),
    search([[null, null, null]]),
    search([], link),
    search([cardSection({ id: "a.card" })]),
    search([listSection([])]),
    search([listSection([{ id: "paid.only", link: "https://ad.example/click" }])]),
    search([listSection([{ id: "a.b" }, { id: "no id" }])]),
    search([listSection([{ id: "a.b" }, { id: "a.c", name: null }])]),
    search([listSection([{ id: "a.b", link: "/store/apps/details?id=a.other" }])]),
    pageOf([{ key: "ds:4", rpc: "lGYRle", data: [[null, null]] }]),
    pageOf([{ key: "ds:4", rpc: "lGYRle", data: null }]),
  ]
  expect(broken.map(outcome)).toEqual(broken.map(() => "changed"))
})

test("a card of another kind is not an app and does not shift the ranks of the results", () => {
  const data = blockData(panda, "ds:4") as [[null, unknown[]]]
  data[0][1].unshift([...Array(23).fill(null), [null, ["A promotion", "/store/games"]]])
  expect(ids(withData(panda, "ds:4", data))).toEqual(PANDA)
})

const whole = wholeBody("play-search-panda.whole.html.gz")

test("a whole recorded page gives the same reading as its excerpt", () => {
  expect(read(whole)).toEqual(read(panda))
})

test("a Play page for another term fails as mismatched, as an excerpt and as a whole page", () => {
  for (const page of [panda, whole]) {
    const other = pageForTerm(page, "chess")
    expect(misread(page, "chess")).toEqual(["mismatched", "the page is for another term"])
    expect(misread(other, "panda")).toEqual(["mismatched", "the page is for another term"])
    expect(read(other, "chess").depth).toBe(20)
    // one of two records with another term is enough, wherever the title is on the page
    for (const record of ['["panda",4,', '["panda"],4,']) {
      expect(misread(page.replace(record, record.replace("panda", "chess")), "panda")[0]).toBe("mismatched")
    }
  }
})

test("a term matches in another case and white space, whatever characters it contains", () => {
  for (const term of [
    "chess  & go",
    "c++ 100%",
    'say "hi" it\'s [',
    "</x> {'ds:4' : {id:'lGYRle',request:[[",
    "熊猫 ゲーム",
  ]) {
    expect(read(pageForTerm(panda, term.toUpperCase()), term).depth).toBe(20)
    expect(misread(pageForTerm(panda, term), `${term}s`)[0]).toBe("mismatched")
  }
})

test("a page without a term in its calls is checked by its title, and fails as changed without a term there", () => {
  const untold = panda.replace("AZO9Cb", "renamed").replace('["panda"],4,', "[],4,")
  const titled = (title: string) =>
    untold.replace('<title id="main-title">panda', () => `<title id="main-title">${title}`)
  expect(read(untold).depth).toBe(20)
  expect(read(titled("Chess  &amp; Go"), "chess & go").depth).toBe(20)
  expect(misread(titled("chess"), "panda")).toEqual(["mismatched", "the page is for another term"])
  expect(misread(untold.replace(" - Android Apps on", " – Apps on"), "panda")).toEqual([
    "changed",
    "the page does not name its term",
  ])
})

test("a Play page for another country fails as mismatched, as an excerpt and as a whole page", () => {
  for (const page of [panda, whole]) {
    const polish = inCountry(page, "PL")
    expect(misread(polish)).toEqual(["mismatched", "the page is that of PL, but US was requested"])
    expect(playSearch.parse(polish, { storefront: "pl", term: "panda" }, about)).toMatchObject({ storefront: "pl" })
  }
  expect(failureOf(inCountry(panda, "PL"))?.country).toBe("pl")
})

test("a page that names no country or two countries fails as changed", () => {
  const nameless = panda.replaceAll('"US"', '""')
  expect(misread(nameless)).toEqual(["changed", "the page does not name its country"])
  expect(misread(panda.replace('"US"', '"PL"'))).toEqual(["changed", "the page names more than one country"])
  // one of the two places is enough, and a listing's text does not count
  expect(read(panda.replace('"fjF0tb":"US",', "")).depth).toBe(20)
  const misleading = listSection([{ id: "a.b", name: '"fjF0tb":"PL" WIZ_global_data = {"fjF0tb":"PL"}' }])
  expect(read(search([misleading])).results[0]?.id).toBe("a.b")
})

test("a Play page that asks for a CAPTCHA fails as blocked", () => {
  expect(outcome(fixture("play-proof.html"))).toBe("blocked")
})

test("the request has the term, the country and the language English; the reading has the egress country", async () => {
  server.on("play.google.com", "/store/search", () => new Response(inCountry(panda, "GB")))
  const subject = { storefront: "gb", term: "panda" }
  const { seen: reading, body } = await readOnce(playSearch, subject, reachOf(server, { egress: "de" }))
  expect(reading).toMatchObject({ storefront: "gb", egress: "de", depth: 20, sha256: body.sha256, seenAt: body.seenAt })
  const { method, url, headers } = server.requests.at(-1)!
  expect(method).toBe("GET")
  expect(url.pathname).toBe("/store/search")
  expect(Object.fromEntries(url.searchParams)).toEqual({ c: "apps", q: "panda", hl: "en", gl: "GB" })
  expect(headers.get("accept-language")).toStartWith("en")
  expect(headers.get("user-agent")).toContain("Mozilla/5.0")
})

test("a term is sent exactly, whatever characters it contains", async () => {
  server.on(
    "play.google.com",
    "/store/search",
    ({ url }) => new Response(pageForTerm(panda, url.searchParams.get("q")!)),
  )
  for (const term of ["a & b", "c++ 100%", 'say "hi" it\'s', "#1?x=y/z;", "熊猫 ゲーム", "🐼 👩‍💻", "naïve  two"]) {
    await readOnce(playSearch, { storefront: "us", term }, reachOf(server))
    expect(server.requests.at(-1)!.url.searchParams.get("q")).toBe(term)
  }
})

test("a 404 fails as not_found and a refusal as blocked, and neither gives an observation", async () => {
  for (const [status, outcome] of [
    [404, "not_found"],
    [403, "blocked"],
    [429, "rate_limited"],
  ] as const) {
    server.on("play.google.com", "/store/search", () => new Response("", { status }))
    const failed = await readOnce(playSearch, { storefront: "us", term: "panda" }, reachOf(server)).catch((e) => e)
    expect((failed as ReadFailure).outcome).toBe(outcome)
  }
})

function search(sections: unknown[], rest = ""): string {
  return pageOf([{ key: "ds:4", rpc: "lGYRle", request: recordOf("panda"), data: searchData(sections) }], { rest })
}

/** Returns the beginning of the request in the call for results, up to and including the term. */
function recordOf(term: string): unknown {
  return [[[], [[8, [20, 50]]], [term], 4], [1]]
}

function read(page: string, term = "panda"): SearchObservation {
  return playSearch.parse(page, { storefront: "us", term }, about)
}

function ids(page: string): string[] {
  return read(page).results.map(({ id }) => id)
}

function outcome(page: string): string {
  return misread(page)[0]
}

function misread(page: string, term = "panda"): [outcome: string, why: string] {
  const failure = failureOf(page, term)
  return failure ? [failure.outcome ?? String(failure), failure.message] : [`read ${ids(page)}`, ""]
}

function failureOf(page: string, term = "panda"): ReadFailure | undefined {
  try {
    read(page, term)
    return undefined
  } catch (error) {
    return error as ReadFailure
  }
}
