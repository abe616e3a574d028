import type { Sql } from "../src/database/types.ts"
import { KINDS } from "../src/kinds.ts"
import * as importing from "../src/measuring/import/import-lines.ts"
import * as lines from "../src/measuring/import/lines.ts"
import { recording } from "../src/recording.ts"

/** Stores and imports readings with the kinds of the program. */
export const { record, recordAttempt, checkObservation } = recording

type ImportOptions = Parameters<typeof importing.importLines>[3]

export const importLines = (sql: Sql, text: AsyncIterable<string>, options?: ImportOptions) =>
  importing.importLines(recording, sql, text, options)

export const parseLine = (text: string) => lines.parseLine(text, KINDS)
