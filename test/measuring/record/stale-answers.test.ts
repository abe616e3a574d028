import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { importLines } from "../../record.ts"
import { openService } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { randomOf, shuffled } from "./listed.ts"

setDefaultTimeout(120_000)

let sql: Sql
const now = () => new Date("2026-11-28T12:00:00Z")
const options = { now, pause: async () => {} }

beforeEach(async () => {
  sql = await freshDatabase()
})

async function importEach(lines: readonly string[]): Promise<number> {
  let recorded = 0
  for (const line of lines) recorded += (await importLines(sql, asLines(line), options)).recorded
  return recorded
}

async function importAll(lines: readonly string[]): Promise<void> {
  await importLines(sql, asLines(...lines), options)
}

async function* asLines(...lines: string[]): AsyncGenerator<string> {
  yield* lines
}

async function linesOf(name: string): Promise<string[]> {
  const text = await Bun.file(new URL(`../../cases/stores/${name}`, import.meta.url)).text()
  return text.split("\n").filter((line) => line !== "")
}

interface App {
  iosId?: string
  androidPkg?: string
}

/**
 * Returns the API's answers about the app: changes such as "2026-11-23 version", the page, and the timeline's versions.
 */
async function answers(app: App) {
  const service = openService({ sql, now })
  const workspaceId = await service.workspace({ plan: "pro" })
  const appId = await trackOwn(sql, { workspaceId, countries: ["us"], keywords: [], ...app } as never)
  const key = await service.key(workspaceId)
  const timeline = await service.call(`/v1/apps/${appId}/timeline?country=us`, { key })
  const page = await service.call(`/v1/apps/${appId}/page?country=us`, { key })
  const facts = page.body.ios ?? page.body.android
  const [called] = await sql`select name from store_app_name order by app_id`
  return {
    versions: timeline.body.changes
      .filter(({ kind }: { kind: string }) => kind === "version")
      .map(({ day, before, after }: Record<string, string>) => `${day} ${before} ${after}`),
    changes: page.body.timeline.map(({ day, kind }: Record<string, string>) => `${day} ${kind}`).sort(),
    name: called?.name,
    version: facts.version,
    price: facts.price,
    ratings: facts.ratings,
  }
}

function ordersOf(lines: readonly string[]): (readonly string[])[] {
  const random = randomOf(20_261_128)
  const orders = [lines.toReversed(), lines, ...Array.from({ length: 4 }, () => shuffled([...lines], random))]
  return orders.slice(0, cases(1, 6))
}

/** A response of each source: the version, its release date and the page's texts. */
type Answer = { day: number; version: string; released: string; price: number; ratings: number } | { day: number }

const SOURCES = {
  "itunes-lookup": { ios: true, page: lookUp("itunes-lookup", "ios", "6744000020") },
  "apple-app-page": { ios: true, page: listing },
  "play-details": { ios: false, page: lookUp("play-details", "android", "com.example.tidy") },
}

function lookUp(source: string, platform: string, id: string) {
  return (answer: Answer): object => ({
    kind: "apps",
    source,
    platform,
    storefront: "us",
    asked: [id],
    seenAt: `2026-11-${answer.day}T03:00:00Z`,
    apps: "version" in answer ? [appOf(id, answer)] : [],
  })
}

function appOf(
  id: string,
  { version, released, price, ratings }: Exclude<Answer, { day: number } & { version?: never }>,
) {
  return {
    id,
    name: `Tidy ${version}`,
    developer: "B",
    version,
    price,
    currency: "USD",
    ratings,
    rating: 4.5,
    updatedAt: released,
    releasedAt: "2020-01-01T00:00:00Z",
    listing: { description: `Text ${version}` },
  }
}

function listing(answer: Answer): object {
  const { day, version, released, price } = answer as never
  return {
    kind: "listing",
    source: "apple-app-page",
    platform: "ios",
    storefront: "us",
    id: "6744000020",
    seenAt: `2026-11-${day}T03:00:00Z`,
    listing: {
      name: `Tidy ${version}`,
      developer: "B",
      description: `Text ${version}`,
      version,
      price,
      currency: "USD",
      versions: [{ version, releasedAt: released }],
    },
  }
}

describe("a stale reading of an app", () => {
  for (const [name, id] of [
    ["stale-listing", "6744000010"],
    ["stale-lookup", "6744000020"],
  ] as const)
    slow(`a stale reading makes no change of the app (${name}), in any order of import`, async () => {
      const lines = await linesOf(`${name}.jsonl`)
      for (const order of ordersOf(lines)) {
        sql = await freshDatabase()
        await importEach(order)
        const { versions, changes, version } = await answers({ iosId: id })
        expect(versions).toEqual(["2026-11-23 1.0 1.1"])
        expect(version).toBe("1.1")
        for (const kind of ["version", "description", name === "stale-lookup" ? "price" : "name"])
          expect(changes.filter((change: string) => change.endsWith(` ${kind}`))).toEqual([`2026-11-23 ${kind}`])
        expect(changes.filter((change: string) => change > "2026-11-24")).toEqual([])
      }
    })

  for (const [source, { ios, page }] of Object.entries(SOURCES))
    test(`a stale reading is not the current state (${source}), in any order of import`, async () => {
      const old = { version: "1.0", released: "2026-10-01T08:00:00Z", price: 0, ratings: 1_000 }
      const fresh = { version: "1.1", released: "2026-11-23T01:00:00Z", price: 2.99, ratings: 1_010 }
      const days = [
        { day: 20, ...old },
        { day: 23, ...fresh },
        { day: 24, ...old },
        { day: 25, ...old },
      ]
      const lines = days.map((answer) => JSON.stringify(page(answer)))
      for (const order of ordersOf(lines)) {
        sql = await freshDatabase()
        await importEach(order)
        const answer = await answers(ios ? { iosId: "6744000020" } : { androidPkg: "com.example.tidy" })
        expect(answer).toMatchObject({ name: "Tidy 1.1", version: "1.1", price: 2.99 })
        expect(answer.changes).toEqual([
          "2026-11-23 description",
          "2026-11-23 name",
          "2026-11-23 price",
          "2026-11-23 version",
        ])
        if (source !== "apple-app-page") expect(answer.ratings).toBe(1_010)
      }
    })

  slow("a stale reading is stored and counted once, even if it is imported twice", async () => {
    const lines = await linesOf("stale-lookup.jsonl")
    await importAll(lines)
    const staleAttempts = async () =>
      (await sql`select section, moments from listing_run where section = 'stale'`).map(({ section, moments }) => [
        section,
        moments.length,
      ])
    expect(await staleAttempts()).toEqual([["stale", 1]])
    expect(await importEach(lines)).toBe(0)
    expect(await staleAttempts()).toEqual([["stale", 1]])
    const [row] = await sql`select seen_at, stale_at from app_storefront`
    expect(row).toEqual({ seen_at: new Date("2026-11-28T03:00:00Z"), stale_at: new Date("2026-11-24T03:00:00Z") })
  })

  test("a reading is stale only compared with readings of the same parser version", async () => {
    const page = (day: number, parser: number, version: string, released: string) =>
      JSON.stringify({
        ...listing({ day, version, released, price: 0, ratings: 1 }),
        parser,
      })
    await importEach([page(20, 1, "1.0", "2026-11-19T08:00:00Z"), page(21, 2, "1.1", "2026-11-18T08:00:00Z")])
    expect((await answers({ iosId: "6744000020" })).version).toBe("1.1")
  })

  test("a reading of the same release with another description is a change, not a stale reading", async () => {
    const page = (day: number, description: string) => {
      const app = { version: "1.0", released: "2026-10-01T08:00:00Z", price: 0, ratings: 1 }
      const line = listing({ day, ...app }) as { listing: object }
      return JSON.stringify({ ...line, listing: { ...line.listing, description } })
    }
    await importEach([page(20, "One"), page(21, "Two"), page(22, "One")])
    expect((await answers({ iosId: "6744000020" })).changes).toEqual([
      "2026-11-21 description",
      "2026-11-22 description",
    ])
  })
})

describe("a stale reading of a review", () => {
  const page = (day: number, stars: number, at: string) =>
    JSON.stringify({
      kind: "reviews",
      source: "apple-reviews",
      platform: "ios",
      storefront: "us",
      storeId: "6744000010",
      seenAt: `2026-11-${day}T03:00:00Z`,
      reviews: [{ id: "13100000001", stars, title: "T", text: `Text of ${stars}`, at }],
    })

  test("a stale reading of an edited review does not undo the edit, in any order of import", async () => {
    const lines = [
      page(21, 5, "2026-11-20T08:00:00Z"),
      page(25, 1, "2026-11-24T08:00:00Z"),
      page(26, 5, "2026-11-20T08:00:00Z"),
    ]
    for (const order of ordersOf(lines)) {
      sql = await freshDatabase()
      await importEach(order)
      expect(await sql`select stars::int from review where review_id = '13100000001'`).toEqual([{ stars: 1 }] as never)
    }
  })
})
