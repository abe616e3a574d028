import * as v from "valibot"
import { kind, type ObservationOf, type StoredRange } from "../../core/kind.ts"
import { hold, isGenre, isText } from "../../core/observation/invariants.ts"
import { Fact, list, Text } from "../../core/observation/line-parts.ts"
import { hexOf, latestOf } from "../../core/observation/precedence.ts"
import { most, ruleBy } from "../../core/observation/shape.ts"
import { takeLocks } from "../../database/locks.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { ALL_APPS } from "../../lib/charts.ts"
import { pagesOf } from "../../measuring/record/best-rows.ts"
import { differenceOf } from "../../measuring/record/differences.ts"

const Genre = v.strictObject({
  /** The store's own id. */
  id: Text,
  name: Text,
  parent: Fact,
})
export type Genre = v.InferOutput<typeof Genre>

const shape = v.strictObject({
  /** Each genre follows its parent. The first is the root, which alone has no parent. */
  genres: v.pipe(list(Genre), most(1_000, "genres"), ruleBy(checkTree)),
})

function checkTree(genres: Genre[]): void {
  const ids = new Set<string>()
  for (const [place, { id, name, parent }] of genres.entries()) {
    hold(isGenre(id) && !ids.has(id), "bad_text", "each genre must have a number of its own")
    hold(isText(name, 200), "bad_text", "each genre must be named")
    const placed = place === 0 ? parent === undefined : parent !== undefined && ids.has(parent)
    hold(placed, "bad_text", "each genre but the first must come after its parent")
    ids.add(id)
  }
}

export type GenresObservation = ObservationOf<"genres", "apple-genres", typeof shape>

export interface GenresQuestion {
  storefront: string
}

/** A store's genres with their names in one storefront. Only the latest tree is stored, as a whole. */
export const genres = kind<GenresObservation, GenresQuestion>({
  name: "genres",
  sources: ["apple-genres"],
  private: false,
  shape,
  question: {
    about: () => ALL_APPS,
    checkSubject: (subject) => hold(isGenre(subject), "bad_text", "a genre must be a number of the store"),
  },
  async store(tx, readings) {
    const trees = latestOf(readings.map((from) => ({ from, key: `${from.platform} ${from.storefront}` })))
    await takeLocks(
      tx,
      "genres",
      trees.map(({ key }) => [key]),
    )
    const placed: GenresObservation[] = []
    for (const { from } of trees) if (await replaceTree(tx, from)) placed.push(from)
    return { placed }
  },
  stored: storedTrees,
  replay: {
    subjects: () => [ALL_APPS],
    toQuestion: ({ storefront }) => ({ storefront }),
    compare: (stored, now) => [differenceOf("genres", stored.genres.map(lineOf), now.genres.map(lineOf))],
    isStored: (sql) => sql`
      select
      from genre g
      where (g.platform, g.storefront) = (a.platform, a.storefront) and g.seen_at >= a.at`,
  },
  example: {
    source: "apple-genres",
    platform: "ios",
    storefront: "us",
    seenAt: "2025-10-25T03:25:01Z",
    genres: [
      { id: "36", name: "App Store" },
      { id: "6014", name: "Games", parent: "36" },
    ],
  },
})

/** Replaces the stored tree. Returns false if the stored tree is newer or the same. */
async function replaceTree(tx: Tx, { genres, ...from }: GenresObservation): Promise<boolean> {
  const { platform, storefront, seenAt, source, parser, origin } = from
  const sha256 = hexOf(from.sha256)
  const newer = await tx`
    select
    from genre
    where platform = ${platform} and storefront = ${storefront}
      and (seen_at, parser, sha256) >= (${seenAt}::timestamptz, ${parser}::smallint, decode(${sha256}, 'hex'))
    limit 1`
  if (newer.length > 0) return false
  await tx`
    delete from genre
    where platform = ${platform} and storefront = ${storefront}`
  const rows = genres.map(({ id, name, parent = null }, place) => ({ genre: id, name, parent, place }))
  await tx`
    insert into genre (platform, storefront, genre, name, parent, place, seen_at, source, parser, origin, sha256)
    select ${platform}, ${storefront}, genre, name, parent, place, ${seenAt}::timestamptz, ${source},
      ${parser}::smallint, ${origin}, decode(${sha256}, 'hex')
    from jsonb_to_recordset(${tx.json(rows)}) r (genre text, name text, parent text, place smallint)
    order by place`
  return true
}

const PAGE = 50

function storedTrees(sql: Sql, { since, sources }: StoredRange): AsyncIterable<GenresObservation[]> {
  return pagesOf(
    (after: GenresObservation | null) => sql<GenresObservation[]>`
      select 'genres' as kind, platform, storefront, source, seen_at as "seenAt", parser, origin, sha256,
        jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', genre, 'name', name, 'parent', parent)) order by place)
          as genres
      from genre
      where seen_at >= ${since ?? "-infinity"}::date::timestamp at time zone 'utc'
        and source = any(${sources as string[]}::text[])
        and (platform, storefront) > (${after?.platform ?? ""}, ${after?.storefront ?? ""})
      group by platform, storefront, source, seen_at, parser, origin, sha256
      order by platform, storefront
      limit ${PAGE}`,
  )
}

function lineOf({ id, name, parent = "" }: Genre): string {
  return `${parent} ${id} ${name}`
}
