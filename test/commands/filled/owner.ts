import { ensureMember } from "../../../src/access/people/people.ts"
import type { Sql } from "../../../src/database/types.ts"

/** Inserts an assistant's grant with one token of each kind. */
export async function fillAssistant(sql: Sql, workspace: number): Promise<void> {
  const rows = await sql<{ id: number }[]>`
    insert into api_key (workspace_id, person_id, kind, name, hint, scopes)
    values (${workspace}, ${await somePerson(sql, workspace)}, 'grant', 'Té "\u2028', 'client.example', '{apps:read}')
    returning id`
  const id = rows[0]!.id
  await sql`insert into key_month (key_id, workspace_id, month) values (${id}, ${workspace}, '2026-01-01')`
  await sql`
    insert into oauth_client (id, name, redirect_uris, from_sha256)
    values ('client_1', 'Té "\u2028', array['https://client.example/callback'], sha256('e'))`
  await sql`
    insert into oauth_code (
      sha256, person_id, workspace_id, client_id, redirect_uri, challenge, resource, name, hint, scopes, expires_at,
      key_id
    )
    select sha256('f'), person_id, workspace_id, 'client_1', 'https://client.example/callback', ${"x".repeat(43)}, 'r',
      'n', 'h', '{apps:read}'::text[], now(), id
    from api_key
    where id = ${id}`
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
  const personId = await somePerson(sql, workspace)
  await sql`update person set passphrase = '$argon2id$v=19$m=1"' where id = ${personId}`
  await sql`
    insert into sign_in_code (sha256, person_id, workspace_id, expires_at)
    values (sha256('c'), ${personId}, ${workspace}, now() + interval '10 minutes')`
  await sql`
    insert into invitation (sha256, workspace_id, name, scopes, app_list, invited_by, expires_at)
    values (sha256('j'), ${workspace}, 'Té "\u2028', '{apps:read}', '{app_1}', ${personId}, now() + interval '7 days')`
  await sql`insert into secret_try (sha256, tries, counts_until) values (sha256('b'), 5, now() + interval '1 minute')`
  await sql`
    insert into person_session (sha256, person_id, workspace_id, via, agent, expires_at)
    values (sha256('d'), ${personId}, ${workspace}, 'code', 'Té "\u2028', now() + interval '30 days')`
  await sql`
    insert into person_identity (issuer, subject, person_id, label)
    values ('https://id.example.com', 'a"1', ${personId}, 'Té "\u2028')`
  await sql`
    insert into second_factor (person_id, sealed, confirmed_at, recovery)
    values (${personId}, 'v1.k.n."\u2028', now(), array[${"f".repeat(64)}])`
  await sql`
    insert into pending_sign_in (sha256, person_id, workspace_id, via, expires_at)
    values (sha256('m'), ${personId}, ${workspace}, 'passphrase', now() + interval '10 minutes')`
  await sql`
    insert into oidc_visit (sha256, next, invitation_id, name, expires_at)
    select sha256('k'), '/app', id, 'Té "\u2028', now() + interval '10 minutes'
    from invitation
    where sha256 = sha256('j')`
  await sql`
    insert into mail_address (person_id, address, pending, code_sha256, code_until, codes, refused, refused_at)
    values (
      ${personId}, 'ada@example.org', 'bo@example.org', sha256('n'), now() + interval '1 hour', 2, 'status 550 "\u2028',
      now()
    )`
  await sql`
    insert into digest (person_id, workspace_id, every, hour, zone)
    values (${personId}, ${workspace}, 'week', 8, 'Europe/Berlin')`
  await sql`
    insert into digest_mail (id, person_id, workspace_id, every, day, state, lease, lease_until, failure, ended_at)
    values
      ('digest_1', ${personId}, ${workspace}, 'day', '2025-11-19', 'sent', null, null, null, now()),
      ('digest_2', ${personId}, ${workspace}, 'week', '2025-11-16', 'writing', gen_random_uuid(), now(), 'Té',
        null)`
  await sql`
    insert into channel (id, workspace_id, kind, shown, person_id, sealed)
    values ('ch_mail', ${workspace}, 'email', 'ada@example.org', ${personId}, 'v1.a.b.f')`
  await sql`
    insert into mail_unsubscribe (token_sha256, person_id, workspace_id, channel_id)
    values (sha256('o'), ${personId}, ${workspace}, 'ch_mail'), (sha256('p'), ${personId}, ${workspace}, null)`
  await sql`
    insert into approval (id, token_sha256, workspace_id, shown, scope, verdict, decided_by, decided_at)
    select 'ap_1', sha256, workspace_id, ${sql.json({ summary: '"\u2028 抹' })}::jsonb, 'track:write', 'declined',
      'ada@host', now()
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

/** The workspace's owner, who is created by the first call. */
const somePerson = (sql: Sql, workspace: number) => sql.begin((tx) => ensureMember(tx, workspace))
