/** Lines of an import file with the stores' data of a small world, relative to today. The same for every build. */

const DAY_MS = 86_400_000

/** The apps of the world. Tea Timer is sold in both stores; the others are rivals and apps on charts. */
export const TEA = {
  id: "310633997",
  pkg: "com.example.tea",
  name: "Tea Timer",
  sku: "TEA01",
  bundleId: "com.example.tea",
}
export const KETTLE = { id: "410633998", name: "Kettle Club" }
export const LEAF = { pkg: "com.example.leaf", name: "Leaf Notes" }
/** Tracked, but never read. */
export const UNREAD = { id: "510633999", pkg: "com.example.unread", name: "Unread" }
export const DEVELOPER = "710633990"

/** Keywords by their state of measurement. */
export const TERMS = {
  present: ["tea timer", "green tea", "brew"],
  sometimes: ["oolong", "matcha 抹茶"],
  absent: ["coffee maker"],
  failed: ["blocked term"],
  unmeasured: ["never read"],
}
const SEARCHED = [...TERMS.present, ...TERMS.sometimes, ...TERMS.absent]
export const ALL_TERMS = [...SEARCHED, ...TERMS.failed, ...TERMS.unmeasured]

export const IOS_RIVALS = Array.from({ length: 25 }, (_, i) => String(600_000_001 + i * 37))
const ANDROID_RIVALS = Array.from({ length: 15 }, (_, i) => `com.rival.app${i}`)

/** Returns the day that many days before `now`, such as "2026-03-01". */
export function dayBefore(now: Date, days: number): string {
  return new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10)
}

/** Returns all public readings, the oldest day first. */
export function publicReadings(now: Date, days = 32): string[] {
  const lines: object[] = []
  lines.push(...genres(now), ...popularities(now))
  for (let ago = days; ago >= 1; ago--) {
    const day = dayBefore(now, ago)
    lines.push(...searches(day, ago))
    lines.push(...charts(day, ago))
    if (ago % 4 === 1) lines.push(...appFacts(day, ago))
    if (ago % 8 === 1) lines.push(...listings(day, ago), ...hints(day, ago))
    if (ago % 6 === 2) lines.push(...reviews(day, ago))
    if (ago % 10 === 2) lines.push(...publishers(day))
  }
  lines.push(...failures(now), ...assistantAnswers(now))
  return lines.map((line) => JSON.stringify(line))
}

function* searches(day: string, ago: number): Generator<object> {
  for (const storefront of ["us", "gb", "de"]) {
    // the United States daily, the others now and then, so that history has gaps of every length
    if (storefront !== "us" && ago % 3 !== 1) continue
    for (const [index, term] of SEARCHED.entries()) {
      // some days of some keywords are left unmeasured
      if (pick(`${day}${term}${storefront}`, 9) === 0) continue
      const results = ranked(`${storefront}${term}`, ago, IOS_RIVALS).map((id) => ({ id, name: nameOf(id) }))
      placeTea(results, { id: TEA.id, name: TEA.name }, { index, ago, storefront })
      if (index % 2 === 0) results.splice(7, 0, { id: KETTLE.id, name: KETTLE.name })
      const source = pick(`${term}${day}`, 4) === 0 ? "apple-store-search" : "apple-web-search"
      yield {
        kind: "search",
        source,
        platform: "ios",
        storefront,
        term,
        seenAt: `${day}T03:${two(10 + index)}:01.530Z`,
        results: results.map((result, place) => ({
          ...result,
          ratings: 1_000 * (place + 1) + ago,
          rating: 3 + (place % 20) / 10,
        })),
      }
    }
  }
  if (ago % 2 === 0) return
  for (const [index, term] of SEARCHED.entries()) {
    const results = ranked(`play${term}`, ago, ANDROID_RIVALS).map((id) => ({ id, name: nameOf(id) }))
    placeTea(results, { id: TEA.pkg, name: TEA.name }, { index, ago, storefront: "us" })
    if (index % 2 === 0) results.splice(3, 0, { id: LEAF.pkg, name: LEAF.name })
    const seenAt = `${day}T05:${two(10 + index)}:02Z`
    yield {
      kind: "search",
      source: "play-search",
      platform: "android",
      storefront: "us",
      egress: "us",
      term,
      seenAt,
      results,
    }
  }
}

/**
 * Places Tea Timer in the results. It rises for the present terms, comes and goes for some, and never ranks for the
 * absent one.
 */
function placeTea(
  results: { id: string; name: string }[],
  app: { id: string; name: string },
  { index, ago, storefront }: { index: number; ago: number; storefront: string },
): void {
  const term = SEARCHED[index]!
  if (TERMS.absent.includes(term) || storefront === "de") return
  if (TERMS.sometimes.includes(term) && Math.floor(ago / 3) % 2 === 0) return
  const place = (index * 3 + Math.floor(ago / 4) + pick(`${term}${ago}`, 3)) % 15
  results.splice(place, 0, app)
}

function* charts(day: string, ago: number): Generator<object> {
  for (const storefront of ["us", "gb"]) {
    if (ago % (storefront === "us" ? 2 : 6) !== 1) continue
    for (const [chart, genre] of [
      ["free", "36"],
      ["free", "6023"],
      ["paid", "6023"],
      ["grossing", "36"],
    ]) {
      const apps = ranked(`${chart}${genre}${storefront}`, ago, IOS_RIVALS).map((id) => ({ id, name: nameOf(id) }))
      if (chart === "free" && ago % 6 !== 0) apps.splice(pick(`${day}${genre}`, 12), 0, { id: TEA.id, name: TEA.name })
      yield {
        kind: "chart",
        source: "apple-charts",
        platform: "ios",
        storefront,
        device: "iphone",
        chart,
        genre,
        seenAt: `${day}T06:00:00Z`,
        apps,
      }
    }
  }
}

function* appFacts(day: string, ago: number): Generator<object> {
  const ids = [TEA.id, KETTLE.id, ...IOS_RIVALS.slice(0, 20)]
  for (const storefront of ["us", "gb"]) {
    yield {
      kind: "apps",
      source: "itunes-lookup",
      platform: "ios",
      storefront,
      seenAt: `${day}T07:00:00Z`,
      // the last app is unavailable in this storefront
      asked: [...ids, "699999999"],
      apps: ids.map((id, i) => ({
        id,
        name: nameOf(id),
        version: `4.${Math.floor((60 - ago) / 12)}`,
        price: i % 5 === 4 ? 2.99 : 0,
        currency: storefront === "gb" ? "GBP" : "USD",
        genre: i % 3 === 0 ? "6023" : "6008",
        ratings: 5_000 * (i + 1) + (60 - ago) * (i + 1) * 3,
        rating: 3.5 + (i % 15) / 10,
        updatedAt: `${day.slice(0, 8)}01T08:00:00Z`,
        releasedAt: `20${two(12 + (i % 12))}-03-0${1 + (i % 9)}T08:00:00Z`,
        languages: ["de", "en", "fr"],
        sizeBytes: 10_000_000 * (i + 1),
        developer: i % 4 === 0 ? "Example Ltd" : `Developer ${i}`,
        developerId: i % 4 === 0 ? DEVELOPER : String(710_634_000 + i),
      })),
    }
  }
  yield {
    kind: "apps",
    source: "play-details",
    platform: "android",
    storefront: "us",
    egress: "us",
    seenAt: `${day}T07:30:00Z`,
    asked: [TEA.pkg, LEAF.pkg],
    apps: [TEA, LEAF].map(({ pkg, name }, i) => ({
      id: pkg,
      name,
      ratings: 900 * (i + 1) + (60 - ago),
      rating: 4.2,
      version: "3.1",
      market: { installs: 100_000 + (60 - ago) * 700 },
    })),
  }
}

function* listings(day: string, ago: number): Generator<object> {
  for (const storefront of ["us", "gb"]) {
    for (const id of [TEA.id, KETTLE.id, ...IOS_RIVALS.slice(0, 5)]) {
      const edition = ago > 20 ? "first" : "second"
      yield {
        kind: "listing",
        source: "apple-app-page",
        platform: "ios",
        storefront,
        id,
        seenAt: `${day}T08:00:00Z`,
        listing: {
          name: nameOf(id),
          language: storefront === "gb" ? "en-GB" : "en-US",
          subtitle: `Brew well, ${edition} edition`,
          description: `${nameOf(id)} counts the minutes of a green tea.\n\nThe ${edition} text of ${id}.`,
          version: ago > 20 ? "4.1" : "4.2",
          versions: [{ version: ago > 20 ? "4.1" : "4.2", notes: `Better timers, ${edition}.` }],
          hasInAppPurchases: id !== KETTLE.id,
          ...(id === TEA.id && {
            events: [{ id: "6000001", title: "Tea week", startsAt: `${dayBefore(new Date(day), 0)}T08:00:00Z` }],
            similar: IOS_RIVALS.slice(0, 4).map((similar) => ({ id: similar, name: nameOf(similar) })),
          }),
        },
      }
    }
  }
}

function* hints(day: string, ago: number): Generator<object> {
  for (const [platform, source] of [
    ["ios", "apple-hints"],
    ["android", "play-suggest"],
  ] as const) {
    for (const prefix of ["t", "tea", "tea t", "g", "green", "zzz"]) {
      const terms = prefix === "zzz" ? [] : SEARCHED.filter((term) => term.startsWith(prefix)).concat(`${prefix} pot`)
      if (pick(`${prefix}${ago}`, 5) > 0)
        yield { kind: "hints", source, platform, storefront: "us", prefix, seenAt: `${day}T09:00:00Z`, terms }
    }
  }
}

function* reviews(day: string, ago: number): Generator<object> {
  for (const [storefront, texts] of [
    ["us", ENGLISH],
    ["gb", ENGLISH],
    ["de", GERMAN],
  ] as const) {
    const page = (first: number) =>
      Array.from({ length: 6 }, (_, i) => {
        const text = texts[(first + i + ago) % texts.length]!
        return {
          id: String(first * 1_000 + (60 - ago) * 10 + i),
          stars: 1 + ((i * 7 + ago) % 5),
          title: text.split(" ").slice(0, 3).join(" "),
          text,
          version: ago > 20 ? "4.1" : "4.2",
          at: `${dayBefore(new Date(day), i % 2)}T0${i}:23:00Z`,
        }
      })
    const head = { kind: "reviews", platform: "ios", storefront, seenAt: `${day}T10:00:00Z` }
    const base = { us: 11_000, gb: 12_000, de: 13_000 }[storefront]
    yield { ...head, source: "apple-reviews", storeId: TEA.id, complete: ago > 30, reviews: page(base) }
    yield { ...head, source: "apple-reviews", storeId: KETTLE.id, reviews: page(base + 50) }
  }
  yield {
    kind: "reviews",
    source: "play-reviews",
    platform: "android",
    storefront: "us",
    storeId: TEA.pkg,
    language: "en",
    seenAt: `${day}T10:30:00Z`,
    reviews: ENGLISH.map((text, i) => ({
      id: `play-${60 - ago}-${i}`,
      stars: 5 - (i % 5),
      text,
      at: `${day}T0${i % 10}:40:00Z`,
    })),
  }
}

const ENGLISH = [
  "Crashes whenever I open the timer",
  "The best tea timer I ever had, love it",
  "Too many ads since the update",
  "Please add a widget for green tea",
  "Subscription is too expensive for a timer",
  "Does what it says and the sound is lovely",
  "Lost all my teas after the update, it crashes",
  "Syncs between my phone and my watch, great",
]
const GERMAN = [
  "Stürzt beim Öffnen ab, seit dem Update",
  "Schöner Timer, sehr zuverlässig und einfach",
  "Zu viel Werbung für so eine kleine App",
  "Das Abo ist mir zu teuer geworden",
]

function* publishers(day: string): Generator<object> {
  yield {
    kind: "developer",
    source: "itunes-developer",
    platform: "ios",
    storefront: "us",
    developerId: DEVELOPER,
    seenAt: `${day}T11:00:00Z`,
    complete: true,
    apps: [TEA.id, ...IOS_RIVALS.slice(0, 3)].map((id) => ({ id, name: nameOf(id) })),
  }
  yield {
    kind: "app_ads",
    source: "app-ads-txt",
    platform: "ios",
    id: IOS_RIVALS[0],
    seenAt: `${day}T11:30:00Z`,
    domain: "rival.example",
    state: "records",
    records: [
      { system: "google.com", publisherId: "pub-1", relation: "DIRECT" },
      { system: "applovin.com", publisherId: "pub-2", relation: "RESELLER" },
    ],
    variables: { OWNERDOMAIN: ["rival.example"] },
  }
}

function* genres(now: Date): Generator<object> {
  yield {
    kind: "genres",
    source: "apple-genres",
    platform: "ios",
    storefront: "us",
    seenAt: `${dayBefore(now, 41)}T01:00:00Z`,
    genres: [
      { id: "36", name: "App Store" },
      { id: "6023", name: "Food & Drink", parent: "36" },
      { id: "6008", name: "Photo & Video", parent: "36" },
    ],
  }
}

function* popularities(now: Date): Generator<object> {
  for (const back of [1, 2, 3]) {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7)
    for (const [index, term] of ["tea timer", "green tea", "coffee maker"].entries()) {
      yield {
        kind: "popularity",
        storefront: "us",
        term,
        month,
        popularity: 70 - index * 11 - back,
        genres: [{ genre: "Food & Drink", rank: 1 + index, popularity: 97 - index }],
      }
    }
  }
}

function* failures(now: Date): Generator<object> {
  const head = { kind: "attempt", platform: "ios", storefront: "us" }
  for (const ago of [1, 2, 3]) {
    const at = `${dayBefore(now, ago)}T04:00:00Z`
    yield { ...head, source: "apple-web-search", term: TERMS.failed[0], at, outcome: "blocked", detail: "status 403" }
  }
}

function* assistantAnswers(now: Date): Generator<object> {
  for (const [run, ago] of [1, 8, 15].entries()) {
    for (const source of ["openai", "google"]) {
      yield {
        kind: "assistant_answer",
        source,
        storefront: "us",
        term: "tea timer",
        language: "en",
        model: "model-1",
        phrasing: "1a",
        run,
        seenAt: `${dayBefore(now, ago)}T12:00:00Z`,
        text: `1. **Tea Timer**: counts minutes.\n2. **${nameOf(IOS_RIVALS[0]!)}**: free.`,
        searched: true,
        cited: [{ url: `https://apps.apple.com/us/app/tea/id${TEA.id}`, title: "Tea Timer" }],
        inputTokens: 800,
        outputTokens: 40,
      }
    }
  }
}

/** Returns ids in an order that changes slowly with the day, so that ranks move. */
function ranked(seed: string, ago: number, ids: readonly string[]): string[] {
  return ids
    .map((id, i) => ({ id, weight: pick(`${seed}${id}`, 1_000) + pick(`${seed}${id}${Math.floor(ago / 5)}`, 60) + i }))
    .sort((a, b) => a.weight - b.weight || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
}

export function nameOf(id: string): string {
  if (id === TEA.id || id === TEA.pkg) return TEA.name
  if (id === KETTLE.id) return KETTLE.name
  return `Rival ${id.replace(/^com\.rival\./, "")}`
}

/** Returns a number from 0 to `below`, the same for the same text. */
function pick(text: string, below: number): number {
  return Bun.hash.crc32(text) % below
}

function two(number: number): string {
  return String(number).padStart(2, "0")
}
