import { rootOf } from "../../database/scheduled-sql.ts"
import type { Sql } from "../../database/types.ts"
import type { WrittenAnswer } from "../../vocabulary/prepared.ts"

/** An answer as a process wrote it last, and a digest of all that it was made of: who gives it again has seen that unchanged. */
interface KeptAnswer {
  digest: string
  answer: WrittenAnswer
}

/** What a process keeps of a database: by name, the one asked for longest ago first. */
interface AnswerStore {
  kept: Map<string, KeptAnswer>
  letters: number
}

/** At two bytes a letter 32 MB: the answers of 150 apps with 200 keywords each. */
const MOST_LETTERS = 16_000_000

const stores = new WeakMap<Sql, AnswerStore>()

export function findKeptAnswer(sql: Sql, name: string): KeptAnswer | null {
  const kept = stores.get(rootOf(sql))?.kept
  const held = kept?.get(name)
  if (!kept || !held) return null
  kept.delete(name)
  kept.set(name, held)
  return held
}

export function keepAnswer(sql: Sql, name: string, latest: KeptAnswer): void {
  const database = rootOf(sql)
  const store = stores.get(database) ?? { kept: new Map(), letters: 0 }
  stores.set(database, store)
  drop(store, name)
  store.kept.set(name, latest)
  store.letters += latest.answer.text.length
  for (const [oldest] of store.kept) {
    if (store.letters <= MOST_LETTERS) return
    drop(store, oldest)
  }
}

function drop(store: AnswerStore, name: string): void {
  store.letters -= store.kept.get(name)?.answer.text.length ?? 0
  store.kept.delete(name)
}
