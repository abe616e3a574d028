import type { TrackedApp } from "../access/visible-apps.ts"
import type { Tx } from "../database/types.ts"
import type { Dataset } from "../observations/exported-rows.ts"
import type { Side } from "../observations/ranks.ts"
import type { Looking } from "./action.ts"
import type { ExportDays } from "./export-days.ts"
import { lookAtHistory, lookAtKeywords } from "./export-ranks.ts"
import { lookAtReviews } from "./export-reviews.ts"

/** What an export holds, as it was looked at. */
export interface Table {
  rows: number
  /** UTC days, both included; null = never measured. */
  from: string | null
  to: string | null
  /** Stores the rows that were counted as the parts of an export. */
  store(tx: Tx, exportId: number): Promise<void>
}

export interface LookedAt {
  table: Table
  /** Sentences about what is not in it, and why. */
  notes: string[]
}

export interface AskedTable {
  app: TrackedApp
  side: Side
  dataset: Dataset
  /** Null for keywords alone. */
  days: ExportDays | null
}

/** Counts the rows of an export. Throws write_limit_reached where they are more than one file holds. */
export async function lookAtTable(looking: Looking, { app, side, dataset, days }: AskedTable): Promise<LookedAt> {
  if (days === null) return await lookAtKeywords(looking, app, side)
  const { table, notes } = await (dataset === "history" ? lookAtHistory : lookAtReviews)(looking, app, side, days)
  if (days.cut) notes.push(`The plan reads back to ${days.planFrom}: earlier days are not in the file.`)
  return { table, notes }
}
