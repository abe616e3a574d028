-- Writes to an outside platform, done after the confirm that enqueued them.

-- queued → running → done | failed | unknown. Back to queued only while sent_at is null, which is when it is known that
-- nothing went out: sent_at is committed before the one request is, and a job with it never runs again.
create table job (
  id text primary key check (id ~ '^job_'),
  workspace_id int not null references workspace,
  key_id int not null references api_key,
  request_id text not null,
  action text not null,
  -- what only one write at a time may change, within the workspace
  target text not null,
  -- null = about no app of the workspace; a key limited to other apps does not see the job
  app_id text,
  -- what the person approved: {summary, target: {kind, id, name}}
  shown jsonb not null,
  args jsonb not null,
  -- the outside target as the preview showed it; the job sends nothing when it finds it changed
  before jsonb,
  status text not null default 'queued' check (status in ('queued', 'running', 'done', 'failed', 'unknown')),
  attempts int not null default 0 check (attempts >= 0),
  next_at timestamptz not null default now(),
  -- one per claim: whoever held an earlier one changes nothing any more
  lease uuid,
  lease_until timestamptz,
  sent_at timestamptz,
  result jsonb,
  -- {error: a fault's code, and its fields}
  error jsonb,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  check ((status = 'running') = (lease is not null)),
  check ((lease is null) = (lease_until is null)),
  check ((status in ('done', 'failed', 'unknown')) = (finished_at is not null)),
  check ((status = 'failed') = (error is not null)),
  check (sent_at is null or status <> 'queued'),
  check (sent_at is not null or status not in ('done', 'unknown'))
);
create unique index job_unfinished on job (workspace_id, target) where status in ('queued', 'running');
create index job_due on job (next_at, id) where status = 'queued';
create index job_leased on job (lease_until, id) where status = 'running';

-- A job that failed has applied nothing: its confirm's credits go back to where they were taken from.
create function refund_failed_job() returns trigger
language plpgsql as $$
begin
  perform refund(new.workspace_id, new.key_id, new.request_id, new.created_at);
  return null;
end $$;

create trigger job_failed
after update of status on job
for each row when (new.status = 'failed')
execute function refund_failed_job();
