import type { Sql } from "../../../src/database/types.ts"
import { record } from "../../record.ts"
import { answered } from "../../visibility/answered.ts"

export async function fillAssistants(sql: Sql, workspace: number, app: string): Promise<void> {
  const text = 'Té "\\n" \u2028抹茶'
  const cited = [{ url: "https://example.com/", title: text }]
  await record(sql, [answered({ text, cited, inputTokens: 8_200 })])
  await sql`
    insert into assistant_turn (
      storefront, term, language, assistant, model, phrasing, run, state, next_at, tries, lease, lease_until, failure,
      answered_at, ended_at
    )
    values
      (
        'us', '抹茶 "1"', 'en', 'openai', 'm-1', '1a', 0, 'due', now(), 1, gen_random_uuid(), now(), '500 busy', null,
        null
      ),
      (
        'us', 'tea', 'en', 'openai', 'm-1', '1a', 0, 'answered', now(), 1, null, null, null,
        '2025-11-19T10:00:00.123456Z', now()
      ),
      ('de', 'tee', 'de', 'google', 'm-1', '1b', 1, 'failed', now(), 3, null, null, 'a\tb', null, now())`
  await sql`
    insert into ai_check (id, workspace_id, app_id, storefronts, ended_at, outcome, request_id, returned_at)
    values ('c1', ${workspace}, ${app}, '{us,de}', null, null, 'r "1"', null),
      ('c2', ${workspace}, ${app}, '{us}', now(), 'failed', 'r2', now())`
  await sql`
    insert into ai_check_turn (check_id, turn_id, shared)
    select 'c1', id, id % 2 = 0 from assistant_turn`
}
