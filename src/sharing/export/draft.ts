import type { Tx } from "../../database/types.ts"

/** What an export would hold, counted and not yet stored. */
export interface ExportDraft {
  rows: number
  /** UTC days, both included; null = never measured. */
  from: string | null
  to: string | null
  /** Stores the rows that were counted as the parts of an export. */
  store(tx: Tx, exportId: number): Promise<void>
  /** Sentences about what is not in it, and why. */
  notes: string[]
}
