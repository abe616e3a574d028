import * as v from "valibot"
import { checkPopularity } from "../check-legacy.ts"
import { kind } from "../kind.ts"
import { popularityOf } from "../line-readers.ts"
import { SHAPES } from "../line-shapes.ts"
import { storePopularities } from "../record-popularity.ts"
import type { PopularityObservation } from "../types.ts"

export const popularity = kind<PopularityObservation>({
  name: "popularity",
  sources: ["apple-ads-report"],
  private: false,
  shape: v.strictObject({}),
  lineShape: SHAPES.popularity,
  readLine: popularityOf as never,
  check: checkPopularity,
  names: (seen) => ({ list: seen }),
  store: async (tx, figures, known) => ({ placed: await storePopularities(tx, figures, known) }),
  example: {},
})
