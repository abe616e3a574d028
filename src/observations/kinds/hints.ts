import * as v from "valibot"
import { checkHints } from "../check-legacy.ts"
import { checkTerm } from "../invariants.ts"
import { kind } from "../kind.ts"
import { hintsOf } from "../line-readers.ts"
import { SHAPES } from "../line-shapes.ts"
import { storeHints } from "../record-hints.ts"
import { HINTS_SOURCES, type HintsObservation } from "../types.ts"

export interface HintsQuestion {
  storefront: string
  /** What was typed, normalised as a term is. */
  prefix: string
}

export const hints = kind<HintsObservation, HintsQuestion>({
  name: "hints",
  sources: HINTS_SOURCES,
  private: false,
  figures: true,
  shape: v.strictObject({}),
  lineShape: SHAPES.hints,
  readLine: hintsOf as never,
  check: checkHints,
  question: { about: ({ prefix }) => prefix, checkSubject: (subject) => checkTerm(subject, "beginning") },
  store: async (tx, answers) => ({ placed: await storeHints(tx, answers) }),
  example: {},
})
