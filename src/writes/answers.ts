import type { Sql } from "../database/types.ts"

/**
 * Stores that a question was sent through the tool endpoint. The answer arrives in a separate request, possibly at
 * another process, so it passes through the database. Also deletes up to 100 questions older than a day.
 */
export async function openQuestion(sql: Sql, id: string, keyId: number): Promise<void> {
  await sql`
    with swept as (
      delete from tool_question
      where id = any(array(
        select id
        from tool_question
        where asked_at < now() - interval '1 day'
        order by asked_at
        limit 100
        for update skip locked
      ))
    )
    insert into tool_question (id, key_id) values (${id}, ${keyId})`
}

/** Stores the first answer from the key that received the question. Ignores any other. */
export async function storeAnswer(sql: Sql, id: string, keyId: number, answer: string): Promise<void> {
  await sql`
    update tool_question
    set answer = ${answer === "accept" || answer === "decline" ? answer : "cancel"}
    where id = ${id} and key_id = ${keyId} and answer is null`
}

/** Returns the answer. Null if there is none yet. */
export async function readAnswer(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ answer: string | null }[]>`
    select answer
    from tool_question
    where id = ${id}`
  return row?.answer ?? null
}
