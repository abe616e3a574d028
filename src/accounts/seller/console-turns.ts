import type { Sql, Tx } from "../../database/types.ts"
import { growingGap } from "../failed-question.ts"

/**
 * `analytics`: whether reports are made for an app, and which are new; `instance`: one of them; `products`: what an app sells;
 * `prices`: what one of these costs.
 */
export type ConsoleTask = "analytics" | "instance" | "products" | "prices"

export interface ConsoleTurn {
  task: ConsoleTask
  /** The console's id of the app, of the report's file, or of the product. */
  subject: string
  /** Somebody waits for it. */
  isAsked: boolean
}

/**
 * Of an analytics turn `none`: nobody asked for reports of the app; `stopped`: they were asked for, and the console stopped making them
 * because nobody read them; `denied`: the key may not look. Of others `gone`: the console does not know it any more.
 */
export type ConsoleTurnState = "ok" | "late" | "gone" | "none" | "stopped" | "denied"

/** Of the workspace's own apps alone: a seller may have many others. Each is made once, whoever makes it. */
export async function makeConsoleTurns(sql: Sql, account: string): Promise<void> {
  await sql`
    insert into console_turn (account_id, task, subject)
    select a.account_id, t.task, a.outside_id
    from account_app a
    cross join (values ('analytics'), ('products')) t (task)
    where a.account_id = ${account} and a.app_id is not null
    order by 2, 3
    on conflict do nothing`
}

/** What somebody waits for, then what has been due for longest; the files of reports the newest first. Null = nothing is due. */
export async function readNextConsoleTurn(sql: Sql, account: string): Promise<ConsoleTurn | null> {
  const [turn] = await sql<ConsoleTurn[]>`
    select t.task, t.subject, t.asked_at is not null as "isAsked"
    from console_turn t
    left join analytics_instance i
      on t.task = 'instance' and i.account_id = t.account_id and i.instance = t.subject
    where t.account_id = ${account} and t.next_at <= now()
    order by t.asked_at nulls last, t.task = 'instance', i.processed desc, t.next_at, t.task, t.subject
    limit 1`
  return turn ?? null
}

/** Makes turns of one task due, unless they are already. */
export async function putConsoleTurns(tx: Tx, account: string, task: ConsoleTask, subjects: readonly string[]) {
  await tx`
    insert into console_turn (account_id, task, subject)
    select ${account}, ${task}, subject
    from unnest(${subjects as string[]}::text[]) s (subject)
    order by subject
    on conflict (account_id, task, subject) do update
    set next_at = now()
    where console_turn.next_at is null`
}

/** What became of a turn that was answered. */
export async function endConsoleTurn(
  tx: Tx | Sql,
  account: string,
  { task, subject }: ConsoleTurn,
  { state, nextAt, putAside = null }: { state: ConsoleTurnState; nextAt: Date | null; putAside?: string | null },
): Promise<void> {
  await tx`
    update console_turn
    set state = ${state}, failure = null, put_aside = ${putAside}, next_at = ${nextAt}, asked_at = null,
      read_at = case when ${state === "ok"} then now() else read_at end, tries = 0
    where account_id = ${account} and task = ${task} and subject = ${subject}`
}

/** It is asked again at growing gaps. */
export async function failConsoleTurn(
  sql: Sql,
  account: string,
  { task, subject }: ConsoleTurn,
  failure: string,
): Promise<void> {
  await sql`
    update console_turn
    set state = 'late', failure = ${failure}, asked_at = null, tries = tries + 1, next_at = ${growingGap(sql)}
    where account_id = ${account} and task = ${task} and subject = ${subject}`
}

/** Puts it before all that is due, also where it was made for nobody yet. Returns since when somebody waits for it. */
export async function askConsoleTurn(sql: Sql, account: string, task: ConsoleTask, subject: string): Promise<Date> {
  const [asked] = await sql<[{ askedAt: Date }]>`
    with asked as (
      insert into console_turn as t (account_id, task, subject, asked_at, next_at)
      values (${account}, ${task}, ${subject}, clock_timestamp(), now())
      on conflict (account_id, task, subject) do update
      set asked_at = coalesce(t.asked_at, clock_timestamp()), next_at = now()
      returning asked_at
    ), due as (
      update connected_account
      set next_at = now()
      where id = ${account} and next_at is not null and next_at > now()
    )
    select asked_at as "askedAt"
    from asked`
  return asked.askedAt
}

export interface TurnStanding {
  state: ConsoleTurnState | "due"
  /** When it was last answered; null = never. */
  readAt: Date | null
  /** Somebody still waits for it. */
  isAsked: boolean
  /** Why it was not read, or what is missing of it; null = nothing. */
  failure: string | null
}

/** How a turn stands; null where there is none. */
export async function readConsoleTurn(
  sql: Sql,
  account: string,
  task: ConsoleTask,
  subject: string,
): Promise<TurnStanding | null> {
  const [turn] = await sql<TurnStanding[]>`
    select state, read_at as "readAt", asked_at is not null as "isAsked", coalesce(failure, put_aside) as failure
    from console_turn
    where account_id = ${account} and task = ${task} and subject = ${subject}`
  return turn ?? null
}
