-- Writes in two steps (preview and confirm), approvals by a person, the audit, and jobs that write to other platforms.

-- A token is shown once and stored as its hash. It allows one confirm by the key that previewed, for 600 s by the clock
-- of this database. Rows are kept for a day, so that a late or second confirm is refused with the reason.
create table confirm_token (
  sha256 bytea primary key,
  workspace_id int not null references workspace,
  key_id int not null references api_key,
  action text not null,
  args jsonb not null,
  -- A hash of what the preview showed of the target before and after.
  seen text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz
);
create index confirm_token_key on confirm_token (key_id, created_at);
create index confirm_token_created on confirm_token (created_at);

-- A write that a person must approve outside the assistant before its confirm.
create table approval (
  id text primary key check (id ~ '^ap_'),
  token_sha256 bytea not null unique references confirm_token on delete cascade,
  workspace_id int not null references workspace,
  -- The preview shown to the person, with its credits.
  shown jsonb not null,
  -- The scope of the action. A person who decides on a page needs it too.
  scope text not null,
  created_at timestamptz not null default now(),
  -- Null while it waits.
  verdict text check (verdict in ('approved', 'declined')),
  -- The person who decided, as the audit names them.
  decided_by text,
  decided_at timestamptz,
  constraint approval_decided_at_check check ((verdict is null) = (decided_at is null)),
  constraint approval_decided_by_check check ((verdict is null) = (decided_by is null))
);
create index approval_workspace on approval (workspace_id, created_at, id);

-- Append-only: every write that was applied or given to a job.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  workspace_id int not null,
  key_id int not null,
  request_id text not null,
  action text not null,
  -- The scope of the action. A caller who may see nothing of what it changes does not see the row either.
  scope text not null,
  target text not null,
  app_id text,
  args jsonb not null,
  preview jsonb not null,
  credits int not null,
  result jsonb,
  job_id text,
  -- The person who approved it outside the assistant. Null if no approval was required.
  approved_by text
);
create index audit_workspace on audit (workspace_id, at, id);
create index audit_at on audit (at, id);

-- Changes by commands on the machine. Changes through the API are in audit.
create table operator_action (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- "ada@host"
  actor text not null,
  -- "workspace set"
  command text not null,
  -- The arguments, without possible secrets.
  typed text not null,
  -- Null: it was killed, or is still running.
  ended_at timestamptz,
  exit_code smallint,
  constraint operator_action_exit_code_check check ((ended_at is null) = (exit_code is null))
);
create index operator_action_at on operator_action (at, id);

-- From queued to running to done, failed or unknown. Back to queued only while sent_at is null, when nothing can have
-- been sent: sent_at is committed before the first request is sent, and a job with it never runs again.
create table job (
  id text primary key check (id ~ '^job_'),
  workspace_id int not null references workspace,
  key_id int not null references api_key,
  request_id text not null,
  action text not null,
  -- As in audit.
  scope text not null,
  -- The target of the job. Within the workspace, only one write at a time may change it.
  target text not null,
  -- Null if the write concerns no app. A key limited to other apps does not see the job.
  app_id text,
  -- The connected account that is written to. Null if none.
  account_id text,
  -- The approved change: {summary, target: {kind, id, name}}.
  shown jsonb not null,
  args jsonb not null,
  -- The target as the preview showed it. The job sends nothing if it has changed.
  before jsonb,
  status text not null default 'queued' check (status in ('queued', 'running', 'done', 'failed', 'unknown')),
  attempts int not null default 0 check (attempts >= 0),
  next_at timestamptz not null default now(),
  -- One per claim: the holder of an earlier lease can no longer write.
  lease uuid,
  lease_until timestamptz,
  sent_at timestamptz,
  result jsonb,
  -- {error: the fault's code, and its fields}.
  error jsonb,
  -- When an unknown outcome is checked next. Null: no further check.
  proof_at timestamptz,
  -- Results of the checks: [{at, verdict, text}].
  proofs jsonb not null default '[]',
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  constraint job_running_has_lease check ((status = 'running') = (lease is not null)),
  constraint job_lease_check check ((lease is null) = (lease_until is null)),
  constraint job_finished_at_check check ((status in ('done', 'failed', 'unknown')) = (finished_at is not null)),
  constraint job_error_check check ((status = 'failed') = (error is not null)),
  constraint job_queued_is_unsent check (sent_at is null or status <> 'queued'),
  constraint job_outcome_needs_sent_at check (sent_at is not null or status not in ('done', 'unknown')),
  constraint job_proof_at_check check (proof_at is null or status = 'unknown')
);
create unique index job_unfinished on job (workspace_id, target) where status in ('queued', 'running');
create index job_due on job (next_at, id) where status = 'queued';
create index job_leased on job (lease_until, id) where status = 'running';
-- Also counts jobs by status.
create index job_status on job (status, finished_at, id);
create index job_account on job (account_id, created_at) where account_id is not null;
create index job_proof on job (proof_at, id) where proof_at is not null;

-- Each request of a job that changes something, committed before it is sent.
create table job_step (
  job_id text not null references job on delete cascade,
  n smallint not null check (n > 0),
  what text not null,
  -- {entity, id, change: {field: {from, to}}}.
  change jsonb not null,
  sent_at timestamptz not null default now(),
  answered_at timestamptz,
  -- Null: the process ended before the response, or still waits for it.
  outcome text check (outcome in ('done', 'refused', 'unsure')),
  primary key (job_id, n)
);

-- Questions to people over the tool endpoint, while the call waits: the answer comes with another request, perhaps to
-- another process.
create table tool_question (
  id text primary key,
  key_id int not null references api_key on delete cascade,
  asked_at timestamptz not null default now(),
  -- Null: the person has not answered yet.
  answer text check (answer in ('accept', 'decline', 'cancel'))
);
create index tool_question_asked on tool_question (asked_at);

-- The audit refuses changes. Rows leave only by age, and only in a transaction that declares it; no setting and no
-- mistake in the program deletes a row of the last year.
create function refuse_change() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('appmeter.audit_retention', true) = 'on' then
    return null;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create function refuse_young() returns trigger
language plpgsql as $$
begin
  if old.at > now() - interval '365 days' then
    raise exception '% keeps every row for a year', tg_table_name using errcode = 'restrict_violation';
  end if;
  return old;
end $$;

create trigger audit_append_only
before update or delete or truncate on audit
for each statement execute function refuse_change();

create trigger audit_kept_a_year
before delete on audit
for each row execute function refuse_young();

-- A failed job has applied nothing: the credits of its confirm are given back.
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
