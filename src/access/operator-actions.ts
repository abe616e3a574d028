import type { Sql } from "../database/types.ts"

/** Something that a command on the machine changed. */
export interface OperatorAction {
  at: Date
  /** "ada@host": whom the system takes for the one who typed it. */
  actor: string
  /** "workspace set". */
  command: string
  /** What was typed after it, without what may be a secret. */
  typed: string
  /** 0 = done; null = it was killed, or goes on. */
  exitCode: number | null
}

/** Before anything is changed, so that a command that is killed stands there too. Gives its number. */
export async function beginOperatorAction(
  sql: Sql,
  { actor, command, typed }: Pick<OperatorAction, "actor" | "command" | "typed">,
): Promise<string> {
  const [row] = await sql<[{ id: string }]>`
    insert into operator_action (actor, command, typed)
    values (${actor}, ${command}, ${typed})
    returning id::text`
  return row.id
}

export async function endOperatorAction(sql: Sql, id: string, exitCode: number): Promise<void> {
  await sql`
    update operator_action
    set ended_at = now(), exit_code = ${exitCode}
    where id = ${id}::bigint and ended_at is null`
}

/** Newest first. */
export async function listOperatorActions(sql: Sql, limit: number): Promise<OperatorAction[]> {
  return await sql<OperatorAction[]>`
    select at, actor, command, typed, exit_code as "exitCode"
    from operator_action
    order by at desc, id desc
    limit ${limit}`
}
