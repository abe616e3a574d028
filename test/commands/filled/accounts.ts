import { expect } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { KINDS } from "../../../src/kinds.ts"
import { holdAccount, type PrivateKind, reported } from "../../consoles/reported.ts"
import { record } from "../../record.ts"

/** Inserts reports of every account kind, and the state of reading them. */
export async function fillAccounts(sql: Sql, workspace: number, app: string): Promise<void> {
  await sql`
    insert into connected_account (
      id, workspace_id, kind, shown, part, sealed, state, why, lease, lease_until, next_at, zone, currency
    )
    values
      (
        'ac_1', ${workspace}, 'app-store-connect', 'key …"\n"', '85012345', 'v1.a.b.c', 'limited', 'a\tb',
        gen_random_uuid(), now(), now(), null, null
      ),
      (
        'ac_2', ${workspace}, 'apple-ads', 'key …抹', '1', null, 'removed', null, null, null, null, 'Europe/Berlin',
        'EUR'
      )`
  await sql`insert into account_right (account_id, name, state, why) values ('ac_1', 'sales', 'denied', '"\u2028')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values ('ac_1', '1', 'TEA', 'Té "\\n"', 'com.example', ${app})`
  await sql`
    insert into account_task (account_id, task, subject, day, state, read_at, tries, failure, next_at)
    values ('ac_1', 'sales', '2025-08-31', '2025-08-31', 'late', null, 1, 'a\tb', now()),
      ('ac_1', 'analytics', '1', null, 'denied', now(), 3, 'a\tb', now()),
      ('ac_1', 'prices', '"1" 抹', null, 'due', null, 0, null, null),
      ('ac_2', 'keywords', '1 "抹"', null, 'late', null, 1, 'a\tb', now())`
  await sql`
    insert into analytics_instance (account_id, app, report, processed, instance, read_at)
    values ('ac_1', '1', 'downloads', '2025-08-31', 'i "1"', null)`
  await sql`
    insert into account_product (account_id, app, product, sold_as, sku, name)
    values ('ac_1', '1', 'p "1"', 'purchase', 'TEA.pro', '抹茶')`
  await sql`
    insert into account_offer (account_id, app, product, kind, offer, name, countries)
    values ('ac_1', '1', 'p "1"', 'introductory', 'o "1" 抹', null, '{de,us}')`
  await holdAccount(sql)
  const examples = KINDS.filter((kind) => kind.private).map(({ name }) => reported(name as PrivateKind))
  const { recorded, refused } = await record(sql, examples, () => new Date())
  expect([recorded, refused]).toEqual([examples.length, []])
  // a report so large that it is stored in pieces
  const { rows } = examples[0] as unknown as { rows: object[] }
  const large = reported("sales", { day: "2025-08-30", rows: Array.from({ length: 300 }, () => rows[0]) })
  expect((await record(sql, [large], () => new Date())).recorded).toBe(1)
}
