import type { Sql } from "../../../src/database/types.ts"

/** Inserts an assistant's grant with one token of each kind. */
export async function fillAssistant(sql: Sql, workspace: number): Promise<void> {
  const made = await sql<{ id: number }[]>`
    insert into api_key (workspace_id, kind, name, hint, scopes)
    values (${workspace}, 'grant', 'Té "\u2028', 'client.example', '{apps:read}')
    returning id`
  const id = made[0]!.id
  await sql`insert into key_month (key_id, workspace_id, month) values (${id}, ${workspace}, '2026-01-01')`
  await sql`
    insert into oauth_client (id, name, redirect_uris, from_sha256)
    values ('client_1', 'Té "\u2028', array['https://client.example/callback'], sha256('e'))`
  await sql`
    insert into oauth_code (
      sha256, workspace_id, client_id, redirect_uri, challenge, resource, name, hint, scopes, expires_at, key_id
    )
    values (sha256('f'), ${workspace}, 'client_1', 'https://client.example/callback', ${"x".repeat(43)}, 'r', 'n', 'h',
      '{apps:read}', now(), ${id})`
  await sql`
    insert into oauth_grant (key_id, client_id, resource, salt, ends_at)
    values (${id}, 'client_1', 'r', sha256('g'), now() + interval '1 year')`
  await sql`
    insert into access_token (sha256, key_id, resource, scopes, expires_at)
    values (sha256('h'), ${id}, 'r', '{apps:read}', now() + interval '1 hour')`
  await sql`
    insert into refresh_token (sha256, key_id, expires_at)
    values (sha256('i'), ${id}, now() + interval '60 days')`
}

/** Inserts the owner's sign-in, pending approvals and writes to other platforms. */
export async function fillOwner(sql: Sql, workspace: number): Promise<void> {
  await sql`insert into owner_passphrase (workspace_id, hashed) values (${workspace}, '$argon2id$v=19$m=1"')`
  await sql`
    insert into sign_in_code (sha256, workspace_id, expires_at)
    values (sha256('c'), ${workspace}, now() + interval '10 minutes')`
  await sql`insert into secret_try (sha256, tries, counts_until) values (sha256('b'), 5, now() + interval '1 minute')`
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
  await sql`
    insert into job_step (job_id, n, what, change, answered_at, outcome)
    select id, 1, 'set bid', ${sql.json({ change: { bid: { from: null, to: '1.5"' } } })}::jsonb, now(), 'unsure'
    from job
    where workspace_id = ${workspace} and status = 'unknown'`
}
