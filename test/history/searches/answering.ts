import type { Sql } from "../../../src/database/types.ts"

/** A handle of which the rows that are awaited are what `answer` makes of them, read after `before`; it counts them. */
export function answering(sql: Sql) {
  const handle = {
    answer: (row: object): object | Promise<object> => row,
    before: async () => {},
    /** Statements that were answered. */
    answered: 0,
    sql,
  }
  const template = (strings: TemplateStringsArray, ...values: unknown[]) => {
    const query = () => sql(strings, ...(values as string[]))
    const run = async () => {
      await handle.before()
      const rows = await query()
      const answers = await Promise.all(rows.map((row) => handle.answer(row)))
      handle.answered += 1
      return answers
    }
    const awaited = { value: (...handlers: Parameters<Promise<unknown>["then"]>) => run().then(...handlers) }
    // biome-ignore lint/suspicious/noThenProperty: a fragment of another statement, by contrast, is never awaited
    return Object.defineProperty(query(), "then", awaited)
  }
  handle.sql = Object.assign(template, { begin: sql.begin }) as unknown as Sql
  return handle
}
