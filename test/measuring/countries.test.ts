import { describe, expect, test } from "bun:test"
import { effectOf, readCountries } from "../../src/measuring/countries.ts"
import { readHealth } from "../../src/measuring/health.ts"
import { long, slow } from "../long.ts"
import { fixture, wholeBody } from "../stores/parsing/parsed.ts"
import { inCountry } from "../stores/parsing/play-pages.ts"
import { publicScene } from "./public-scene.ts"
import { EGRESS, gaps } from "./scene.ts"

const TRANSLATE = "com.google.android.apps.translate"
const PANDA = wholeBody("play-search-panda.whole.html.gz")
const PAGE = fixture("play-details-translate.html")

const scene = publicScene({ egressCountry: "us" })

/** Makes Google Play answer for this country, whatever country is requested. */
function answersFor(country: string, { page = PAGE as string | null } = {}): void {
  scene.stores.on("play.google.com", "/store/search", () => new Response(inCountry(PANDA, country)))
  scene.stores.on("play.google.com", "/store/apps/details", () =>
    page === null ? new Response("not found", { status: 404 }) : new Response(inCountry(page, country)),
  )
  scene.stores.on("play.google.com", "/_/PlayStoreUi", () => new Response(fixture("play-suggest-pand.txt")))
}

const track = () => scene.track({ androidPkg: TRANSLATE, countries: ["us"], keywords: ["panda"] })
const attempts = () => scene.sql`select kind, subject, outcome, detail from attempt order by id limit 10`
const failures = async (kind: "search" | "app" | "hints") => (await scene.due(kind)).map(({ failure }) => failure)

const learnt = async () =>
  (await readCountries(scene.sql, EGRESS)).map(({ asked: requests, answered, reads }) => [requests, answered, reads])

describe("a Google Play page for the wrong country", () => {
  test("a Google Play page for the wrong country fails as mismatched and stores nothing", async () => {
    answersFor("PL")
    await track()
    await scene.read("search")
    await scene.read("app")
    const why = { outcome: "mismatched", detail: "the page is that of PL, but US was requested" }
    expect([...(await attempts())]).toEqual([
      { kind: "search", subject: "panda", ...why },
      { kind: "apps", subject: TRANSLATE, ...why },
    ])
    expect([...(await failures("search")), ...(await failures("app"))]).toEqual(["mismatched", "mismatched"])
    for (const table of ["search_results", "app_storefront", "rating_count", "market_fact"]) {
      expect([table, await scene.count(table)]).toEqual([table, 0])
    }
  })

  slow("Google Play suggestions fail as mismatched while Google Play's pages are for the wrong country", async () => {
    answersFor("PL")
    await track()
    await scene.read("search")
    await scene.read("hints")
    expect([await failures("hints"), await scene.count("hint_answer")]).toEqual([["mismatched"], 0])
    answersFor("US")
    await scene.read("search", { days: 1 })
    await scene.read("hints", { days: 1 })
    expect([await failures("hints"), await scene.count("hint_answer")]).toEqual([[null], 1])
  })

  slow("a 404 makes an app unavailable only while Google Play answers for the right country", async () => {
    answersFor("PL", { page: null })
    await track()
    await scene.read("app")
    expect([await failures("app"), await scene.count("app_storefront")]).toEqual([["failed"], 0])
    await scene.read("search")
    await scene.read("app", { days: 1 })
    expect([await failures("app"), await scene.count("app_storefront")]).toEqual([["mismatched"], 0])
    answersFor("US", { page: null })
    await scene.read("search", { days: 1 })
    await scene.read("app", { days: 1 })
    expect([...(await scene.sql`select storefront, available from app_storefront`)]).toEqual([
      { storefront: "us", available: false },
    ])
  })

  long("five answers in a row for the wrong country open an alert and are counted in the source's health", async () => {
    answersFor("PL")
    await track()
    for (let days = 0; days < 5; days++) await scene.read("search", { days })
    const sources = [{ name: "play-search", upstream: "play.google.com", on: true }] as const
    const [health] = await readHealth(scene.sql, {
      sources,
      kinds: [],
      egress: EGRESS,
      gapsMs: gaps(),
      egressCountry: "us",
    })
    expect(health).toMatchObject({ failuresInARow: 5, lastFailure: { outcome: "mismatched" }, lastSuccess: null })
    expect([...(await scene.sql`select kind, detail from instance_alert`)]).toEqual([
      {
        kind: "source_mismatched",
        detail: "5 answers in a row to another question than was asked: the page is that of PL, but US was requested",
      },
    ])
    answersFor("US")
    await scene.read("search", { days: 6 })
    expect(await scene.sql`select from instance_alert where ended_at is null`).toHaveLength(0)
  })
})

describe("the effect of the requested country", () => {
  slow("each answer of Google Play is counted by its requested country and its actual country", async () => {
    answersFor("PL")
    await track()
    await scene.read("search")
    answersFor("US")
    await scene.read("search", { days: 1 })
    await scene.read("app", { days: 1 })
    expect(await learnt()).toEqual([
      ["us", "pl", 1],
      ["us", "us", 2],
    ])
  })

  test("the effect of the requested country is unknown until the answers show it as followed, ignored or mixed", () => {
    const of = (...pairs: string[]) =>
      effectOf(pairs.map((pair) => ({ asked: pair.slice(0, 2), answered: pair.slice(3) })))
    expect([of(), of("us-us"), of("us-us", "de-de"), of("us-pl"), of("us-pl", "pl-pl"), of("us-us", "de-us")]).toEqual([
      "unknown",
      "unknown",
      "followed",
      "ignored",
      "ignored",
      "ignored",
    ])
    expect([of("us-pl", "us-us"), of("us-us", "de-de", "fr-us")]).toEqual(["mixed", "mixed"])
  })
})
