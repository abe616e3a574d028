import type { Sql } from "../database/types.ts"

/** A change made by a command on the server. */
export interface OperatorAction {
  at: Date
  /** "ada@host": the system user who ran the command. */
  actor: string
  /** Example: "workspace set". */
  command: string
  /** The arguments, without possible secrets. */
  typed: string
  /** 0 if it succeeded. Null if it was killed or is still running. */
  exitCode: number | null
}

/** Records the command before it changes anything, so that a killed command is listed too. Returns its id. */
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

/** Returns the actions, newest first. */
export async function listOperatorActions(sql: Sql, limit: number): Promise<OperatorAction[]> {
  return await sql<OperatorAction[]>`
    select at, actor, command, typed, exit_code as "exitCode"
    from operator_action
    order by at desc, id desc
    limit ${limit}`
}
