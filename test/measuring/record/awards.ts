import * as v from "valibot"
import { kind, type ObservationOf } from "../../../src/core/kind.ts"
import { checkIds } from "../../../src/core/observation/invariants.ts"
import { Text } from "../../../src/core/observation/line-parts.ts"
import { rule, ruleBy } from "../../../src/core/observation/shape.ts"
import { pagesOf, provenanceOf, storeBest } from "../../../src/measuring/record/best-rows.ts"

const shape = v.strictObject({
  id: v.pipe(
    Text,
    ruleBy((id, { platform }) => checkIds(platform, [id], "apps")),
  ),
  award: v.pipe(
    Text,
    rule("bad_text", "an award must be named", (award) => /\S/.test(award)),
  ),
})

type AwardObservation = ObservationOf<"award", "import", typeof shape>

/** An invented kind. This file has everything that the product needs to know about it. */
export const awards = kind<AwardObservation>({
  name: "award",
  sources: ["import"],
  private: false,
  shape,
  names: ({ id }) => ({ apps: [id] }),
  async store(tx, observations, { appOf }) {
    const rows = observations.map((from) => {
      const { platform, storefront, id, award } = from
      return { from, row: { app_id: appOf(platform, id), storefront, award, ...provenanceOf(from) } }
    })
    return { placed: await storeBest(tx, { table: "award", key: ["app_id", "storefront"] }, rows) }
  },
  stored: (sql, { sources }) =>
    pagesOf((after: AwardObservation | null) =>
      after
        ? Promise.resolve([])
        : sql<AwardObservation[]>`
            select 'award' as kind, s.platform, s.store_id as id, a.storefront, a.award, a.source,
              a.seen_at as "seenAt", a.parser, a.origin, a.sha256
            from award a
            join store_app s on s.id = a.app_id
            where a.source = any(${sources as string[]}::text[])
            order by s.store_id, a.storefront`,
    ),
  example: {
    source: "import",
    platform: "ios",
    storefront: "us",
    id: "897446215",
    seenAt: "2025-10-25T03:25:01Z",
    award: "App of the Year",
  },
})

/** The migration that creates its table. */
export const AWARDS = `
  create table if not exists award (
    app_id int not null references store_app, storefront text not null, award text not null, source text not null,
    seen_at timestamptz not null, parser smallint not null, origin text not null, sha256 bytea not null,
    primary key (app_id, storefront)
  )`
