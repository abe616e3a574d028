import type { Sql } from "../../../src/database/types.ts"

/** How the owner of a workspace signs in, and what waits for his approval. */
export async function fillOwner(sql: Sql, workspace: number): Promise<void> {
  await sql`insert into owner_passphrase (workspace_id, hashed) values (${workspace}, '$argon2id$v=19$m=1"')`
  await sql`
    insert into sign_in_code (sha256, workspace_id, expires_at)
    values (sha256('c'), ${workspace}, now() + interval '10 minutes')`
  await sql`insert into sign_in_try (sha256, tries) values (sha256('b'), 5)`
  await sql`
    insert into owner_session (sha256, workspace_id, key_id, expires_at)
    select sha256('d'), ${workspace}, min(id), now() + interval '12 hours'
    from api_key
    where workspace_id = ${workspace}`
  await sql`
    insert into approval (id, token_sha256, workspace_id, shown, verdict, decided_by, decided_at)
    select 'ap_1', sha256, workspace_id, ${sql.json({ summary: '"\u2028 抹' })}::jsonb, 'declined', 'ada@host', now()
    from confirm_token
    where workspace_id = ${workspace}
    order by created_at
    limit 1`
}
