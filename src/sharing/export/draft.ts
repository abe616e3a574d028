import type { Tx } from "../../database/types.ts"

/** The contents of an export. Its rows are counted, but not stored yet. */
export interface ExportDraft {
  rows: number
  /** UTC days, inclusive. Null if never measured. */
  from: string | null
  to: string | null
  /** Stores the counted rows as parts of the export. */
  store(tx: Tx, exportId: number): Promise<void>
  /** Sentences about what the file leaves out, and why. */
  notes: string[]
}
