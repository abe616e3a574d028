import { search } from "../../src/keywords/kinds/search.ts"
import type { SearchObservation, SearchQuestion } from "../../src/keywords/kinds/search-shape.ts"
import type { Upstream } from "../../src/lib/upstreams.ts"
import type { Kind, Subject } from "../../src/measuring/due-kind.ts"
import { ReadFailure, type Source } from "../../src/measuring/source.ts"
import { apps } from "../../src/stores/kinds/apps.ts"
import type { AppsQuestion } from "../../src/stores/kinds/apps-shape.ts"
import type { ReplayServer } from "../stores/parsing/replay.ts"

/** A CAPTCHA page with status 200. */
export const CAPTCHA = "are you a robot?"

/** A source whose search results are a JSON array of store ids. */
export const ranks: Source<SearchQuestion, SearchObservation> = {
  name: "apple-web-search",
  kind: search,
  upstream: "apps.apple.com",
  parser: 1,
  request: ({ storefront, term }) => ({ path: `/${storefront}/search?term=${encodeURIComponent(term)}` }),
  parse(body, { storefront, term }, { seenAt, sha256 }) {
    if (body === CAPTCHA) throw new ReadFailure("blocked", "asks for a proof")
    const ids: string[] = JSON.parse(body)
    return {
      kind: "search",
      source: "apple-web-search",
      platform: "ios",
      storefront,
      term,
      depth: Math.max(1, ids.length),
      complete: true,
      results: ids.map((id) => ({ id })),
      seenAt,
      sha256,
      parser: 1,
      origin: "own",
    }
  },
}

/** The same source on another upstream. */
export const otherRanks: Source<SearchQuestion, SearchObservation> = {
  ...ranks,
  name: "apple-store-search",
  upstream: "itunes.apple.com",
  parse: (...read) => ({ ...ranks.parse(...read), source: "apple-store-search" }),
}

export const searches: Kind = {
  name: "search",
  observes: search,
  platform: "ios",
  upstream: "apps.apple.com",
  together: 1,
  requests: 1,
  everyDays: 1,
  async read([subject], port) {
    const { storefront, subject: term } = subject as Subject
    return [await port.ask(ranks, { storefront, term })]
  },
}

/** Searches that write a row of `effect` each time they end. A term that begins with "killer" kills its process. */
export const counted: Kind = {
  ...searches,
  async read(subjects, port) {
    if (subjects[0]?.subject.startsWith("killer")) process.kill(process.pid, "SIGKILL")
    return await searches.read(subjects, port)
  },
  async derive(tx, subjects) {
    await tx`insert into effect (subject) select unnest(${subjects.map(({ subject }) => subject)}::text[])`
  },
}

/** Look-ups of up to 50 apps in one request; only their end is stored. */
export const lookUps: Kind = {
  ...searches,
  name: "app",
  upstream: "itunes.apple.com",
  together: 50,
  async read(subjects, port) {
    const ids = subjects.map(({ subject }) => subject)
    await port.ask(lookUp, { storefront: (subjects[0] as Subject).storefront, ids })
    return []
  },
}

const lookUp: Source<AppsQuestion> = {
  name: "itunes-lookup",
  kind: apps,
  upstream: "itunes.apple.com",
  parser: 1,
  request: ({ storefront, ids }) => ({ path: `/lookup?country=${storefront}&id=${ids.join()}` }),
  parse(body, { storefront, ids }, { seenAt, sha256 }) {
    const facts = { platform: "ios" as const, storefront, asked: [...ids], apps: JSON.parse(body) }
    return { kind: "apps", source: "itunes-lookup", ...facts, seenAt, sha256, parser: 1, origin: "own" }
  },
}

/** Returns the searched terms in request order. */
export function requestedTerms(server: ReplayServer): string[] {
  return server.requests.flatMap(({ url }) => url.searchParams.get("term") ?? [])
}

/** Answers every search with these ids after a delay. */
export function answersSearches(server: ReplayServer, afterMs = () => 0, ids = ["10001", "10002"]): void {
  for (const upstream of ["apps.apple.com", "itunes.apple.com"] satisfies Upstream[]) {
    server.on(upstream, "/", async () => {
      const waitMs = afterMs()
      if (waitMs > 0) await Bun.sleep(waitMs)
      return Response.json(ids)
    })
  }
}
