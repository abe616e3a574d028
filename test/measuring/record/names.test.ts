import { beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { nameIn } from "../../../src/stores/store/app-names.ts"
import { freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { record } from "../../record.ts"
import { charted } from "./charted.ts"
import { listed } from "./listed.ts"
import { appsReading, NOW, reading, readStoredNames } from "./measured.ts"
import { shelved } from "./public-facts.ts"

setDefaultTimeout(240_000)

const RUNS = Number(process.env.RUNS ?? cases(1, 4))
const IDS = ["10001", "10002", "10003"]
const STOREFRONTS = ["us", "jp", "de"]

let sql: Sql
beforeEach(async () => {
  sql = await freshDatabase()
})

interface Telling {
  kind: "search" | "chart" | "lookup" | "page" | "shelf"
  storefront: string
  hour: number
  parser: number
  /** Only for searches. */
  demo: boolean
  names: (string | undefined)[]
  icons: (string | undefined)[]
}

const three = <One>(...ones: One[]) => fc.array(fc.constantFrom(...ones), { minLength: 3, maxLength: 3 })

// few times and few names, so that many readings have the same time and different names
const telling: fc.Arbitrary<Telling> = fc
  .record({
    kind: fc.constantFrom<Telling["kind"]>("search", "chart", "lookup", "page", "shelf"),
    storefront: fc.constantFrom(...STOREFRONTS),
    hour: fc.integer({ min: 1, max: 4 }),
    parser: fc.integer({ min: 1, max: 2 }),
    demo: fc.boolean(),
    names: three(undefined, "Tea", "tea", "お茶", "Té", "🍵"),
    icons: three(undefined, "https://a.example/1.png", "https://a.example/2.png"),
  })
  .map((item) => ({ ...item, demo: item.demo && item.kind === "search" }))

slow("an app's name in each storefront does not depend on the order, batches or repetition of readings", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(telling, { minLength: 1, maxLength: 14 }), fc.infiniteStream(fc.nat()), holdsAlways),
    { seed: 12, numRuns: RUNS, endOnFailure: true },
  )
})

test("an app's name comes from its storefront, or else from the first tracked storefront or the US", async () => {
  const named = async (storefront: string, countries: string[]) => {
    const [row] = await sql<{ name: string | null }[]>`
      select ${nameIn(sql, sql`a.id`, { storefront, countries })} as name
      from store_app a`
    return row!.name
  }
  const recordName = (storefront: string, hour: number, name: string) =>
    record(sql, [appsReading(`2025-11-19T0${hour}:00:00Z`, [{ id: "10001", name }], { storefront })], () => NOW)
  await recordName("jp", 5, "お茶")
  expect([await named("jp", ["us"]), await named("us", ["us"]), await named("de", [])]).toEqual(Array(3).fill("お茶"))
  await recordName("fr", 4, "Thé")
  const first = [await named("us", ["us"]), await named("us", ["jp", "fr"]), await named("us", ["de", "jp", "fr"])]
  expect(first).toEqual(["Thé", "お茶", "お茶"])
  await recordName("us", 1, "Tea")
  const names = [await named("us", ["jp"]), await named("de", []), await named("de", ["fr"]), await named("jp", ["us"])]
  expect(names).toEqual(["Tea", "Tea", "Thé", "お茶"])
})

test("an icon from an older reading stays if the latest reading has none, unless it comes from the demo", async () => {
  const demo = { id: "10001", name: "Demo", icon: "https://a.example/demo.png" }
  const rest = { depth: 1, results: [demo], origin: "demo" }
  await record(sql, [reading("tea", "2025-11-19T09:00:00Z", [], rest)], () => NOW)
  await record(sql, [appsReading("2025-11-18T09:00:00Z", [{ id: "10001", name: "Tea" }])], () => NOW)
  expect(await readStoredNames(sql)).toEqual(["10001 us Tea"])
  const icon = "https://a.example/1.png"
  const older = reading("tea", "2025-11-17T09:00:00Z", [], { depth: 1, results: [{ id: "10001", icon }] })
  await record(sql, [older], () => NOW)
  expect(await readStoredNames(sql)).toEqual([`10001 us Tea ${icon}`])
})

async function holdsAlways(tellings: readonly Telling[], seeds: fc.Stream<number>): Promise<void> {
  const readings = tellings.map(readingOf)
  const expected = expectedOf(tellings)
  for (const parts of [[readings], readings.toReversed().map((single) => [single]), ...dealt(readings, seeds)]) {
    await freshDatabase()
    await Promise.all(parts.map((part) => record(sql, part, () => NOW)))
    expect(await readStoredNames(sql)).toEqual(expected)
    await record(sql, readings, () => NOW)
    expect(await readStoredNames(sql)).toEqual(expected)
  }
}

const at = (hour: number) => `2025-11-19T0${hour}:00:00Z`

function readingOf({ kind, storefront, hour, parser, demo, names, icons }: Telling): Observation {
  const rest = { storefront, parser, origin: demo ? "demo" : "own" }
  const apps = IDS.map((id, place) => {
    const [name, icon] = [names[place], icons[place]]
    return { id, ...(name && { name }), ...(icon && { icon }) }
  })
  if (kind === "search") return reading("tea", at(hour), [], { ...rest, depth: 3, results: apps })
  if (kind === "chart") return charted(at(hour), IDS, { ...rest, apps })
  if (kind === "lookup") return appsReading(at(hour), apps, rest)
  if (kind === "shelf") return { ...shelved(at(hour), IDS, rest), apps }
  const [ownApp, ...similar] = apps as [(typeof apps)[number], ...typeof apps]
  const page = listed(at(hour), { similar, moreByDeveloper: [] }, { ...rest, id: "10001" })
  const { icon: _, ...listing } = page.listing
  return { ...page, listing: { ...listing, name: ownApp.name ?? "Page", ...(ownApp.icon && { icon: ownApp.icon }) } }
}

/** Returns the names that must be stored, calculated from all readings at once and without the product. */
function expectedOf(tellings: readonly Telling[]): string[] {
  return IDS.flatMap((id, place) =>
    STOREFRONTS.toSorted().flatMap((storefront) => {
      const sameStorefront = tellings
        .filter((item) => item.storefront === storefront)
        .map((item) => factsOf(item, place))
      const named = sameStorefront.filter(({ name, icon }) => name ?? icon)
      const real = named.filter(({ demo }) => !demo)
      const candidates = real.length > 0 ? real : named
      const facts = [best(candidates, "name"), best(candidates, "icon")].filter(Boolean)
      return facts.length > 0 ? [[id, storefront, ...facts].join(" ")] : []
    }),
  )
}

interface NameFacts {
  demo: boolean
  name: string | undefined
  icon: string | undefined
  /** Compared in this order: the later time, then the source with more detail, then the newer parser. */
  order: number[]
}

const TRUST = ["beside", "import", "itunes-developer", "apple-app-page", "itunes-lookup"]

function factsOf({ kind, names, icons, hour, parser, demo }: Telling, place: number): NameFacts {
  const isPage = kind === "page"
  const page = place === 0 ? "apple-app-page" : "beside"
  const source = { search: "import", chart: "import", lookup: "itunes-lookup", shelf: "itunes-developer", page }[kind]
  const name = names[place] ?? (isPage && place === 0 ? "Page" : undefined)
  return { demo, name, icon: icons[place], order: [hour, TRUST.indexOf(source), parser] }
}

function best(candidates: readonly NameFacts[], fact: "name" | "icon"): string | undefined {
  const rows = candidates.filter((candidate) => candidate[fact] !== undefined)
  rows.sort((a, b) => {
    const differs = a.order.findIndex((part, i) => part !== b.order[i])
    if (differs >= 0) return b.order[differs]! - a.order[differs]!
    return Buffer.compare(Buffer.from(b[fact]!), Buffer.from(a[fact]!))
  })
  return rows[0]?.[fact]
}

/** Records the readings twice, in random order and in two concurrent halves; the second time with some duplicates. */
function dealt(readings: readonly Observation[], seeds: fc.Stream<number>): Observation[][][] {
  return [false, true].map((doubled) => {
    const all = doubled ? [...readings, ...readings.slice(0, 3)] : readings
    const keys = [...seeds.take(all.length)]
    const cards = all
      .map((item, i) => ({ item, key: keys[i]! }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item)
    const half = Math.ceil(cards.length / 2)
    return [cards.slice(0, half), cards.slice(half)]
  })
}
