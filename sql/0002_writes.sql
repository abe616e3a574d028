-- Writes in two steps: what was previewed, and what was done.

-- A token is shown once and stored as its hash. It is good for one confirm by the key that previewed, for 600 s by this
-- database's clock; rows are kept a day, so that a late or second confirm is told why it is refused.
create table confirm_token (
  sha256 bytea primary key,
  workspace_id int not null references workspace,
  key_id int not null references api_key,
  action text not null,
  args jsonb not null,
  -- a hash of what the preview showed of the target before and after
  seen text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz
);
create index confirm_token_key on confirm_token (key_id, created_at);
create index confirm_token_created on confirm_token (created_at);

-- Append-only: every write that was applied or handed to a job.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  workspace_id int not null,
  key_id int not null,
  request_id text not null,
  action text not null,
  target text not null,
  app_id text,
  args jsonb not null,
  preview jsonb not null,
  credits int not null,
  result jsonb,
  job_id text
);
create index audit_workspace on audit (workspace_id, at, id);

create function refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger audit_append_only
before update or delete or truncate on audit
for each statement execute function refuse_change();
