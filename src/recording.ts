import { importedFigures } from "./keywords/store/figures.ts"
import { figureSweep } from "./keywords/store/old-figures.ts"
import { KINDS } from "./kinds.ts"
import { ratingJumps } from "./listings/store/rating-jumps.ts"
import { estimates } from "./market/store/estimates-due.ts"
import { createRecording } from "./measuring/record/record.ts"
import { reportSweep } from "./measuring/record/report-sets.ts"
import type { Retention } from "./measuring/retention/tables.ts"
import { ratingSweep } from "./stores/store/rating-quarters.ts"
import { storeApps } from "./stores/store/shown-apps.ts"

/**
 * How measurements are stored: the listed kinds, and what is derived from several of them. `commands` passes it to
 * everything that measures.
 */
export const recording = createRecording({
  kinds: KINDS,
  storeApps,
  followUps: [ratingJumps, estimates, importedFigures],
})

/** How old rows are removed or packed, in addition to those that are deleted by age (measuring/retention/tables.ts). */
export const RETENTION: Retention = { kinds: KINDS, sweeps: [ratingSweep, figureSweep, reportSweep] }
