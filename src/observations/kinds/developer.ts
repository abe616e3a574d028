import * as v from "valibot"
import { checkDeveloper } from "../check-listing.ts"
import { hold, isDeveloperId } from "../invariants.ts"
import { kind } from "../kind.ts"
import { developerOf } from "../line-readers.ts"
import { SHAPES } from "../line-shapes.ts"
import { storeDevelopers } from "../record-developer.ts"
import type { DeveloperAppsObservation } from "../types.ts"

export interface DeveloperQuestion {
  storefront: string
  /** Store id. */
  developerId: string
}

export const developer = kind<DeveloperAppsObservation, DeveloperQuestion>({
  name: "developer",
  sources: ["itunes-developer"],
  private: false,
  figures: true,
  shape: v.strictObject({}),
  lineShape: SHAPES.developer,
  readLine: developerOf as never,
  check: checkDeveloper,
  question: {
    about: ({ developerId }) => developerId,
    checkSubject: (subject) => hold(isDeveloperId(subject), "bad_text", "the developer must be a number of the store"),
  },
  names: ({ apps }) => ({ apps: apps.map(({ id }) => id) }),
  weight: ({ apps }) => apps.length,
  async store(tx, readings, known) {
    const shown = await storeDevelopers(tx, readings, known)
    return { placed: shown.filter(({ placed }) => placed).map(({ from }) => from), shown }
  },
  example: {},
})
