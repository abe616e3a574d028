import type { Sql } from "../database/types.ts"

/**
 * What people answered to questions that went out over the tool endpoint. The answer comes with a request of its own, and
 * to whichever process: so it waits in the database for the one that asked. Questions older than a day go on the way.
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

/** Takes the first answer, from the key that was asked; any other is passed over. */
export async function storeAnswer(sql: Sql, id: string, keyId: number, answer: string): Promise<void> {
  await sql`
    update tool_question
    set answer = ${answer === "accept" || answer === "decline" ? answer : "cancel"}
    where id = ${id} and key_id = ${keyId} and answer is null`
}

/** Null = none yet. */
export async function readAnswer(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ answer: string | null }[]>`
    select answer
    from tool_question
    where id = ${id}`
  return row?.answer ?? null
}
