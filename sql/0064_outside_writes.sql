-- Writes to the workspace's own accounts on other platforms.

-- Off until its owner switches them on; with a key of their own, or with the one that reads.
alter table connected_account
  add writes boolean not null default false,
  add sealed_write text,
  -- as much of that key as may be shown
  add shown_write text,
  -- guardrails that differ from the usual ones, by name
  add write_limits jsonb not null default '{}',
  add check (sealed_write is null or sealed is not null),
  add check ((sealed_write is null) = (shown_write is null));

alter table job
  -- where it is written; null = no account of a workspace
  add account_id text,
  -- an unknown outcome is looked at then; null = not any more
  add proof_at timestamptz,
  -- what the looks so far found: [{at, verdict, text}]
  add proofs jsonb not null default '[]',
  add check (proof_at is null or status = 'unknown');
create index job_account on job (account_id, created_at) where account_id is not null;
create index job_proof on job (proof_at, id) where proof_at is not null;

-- Each request of a job that changes something, committed before it goes out.
create table job_step (
  job_id text not null references job on delete cascade,
  n smallint not null check (n > 0),
  what text not null,
  -- {entity, id, change: {field: {from, to}}}
  change jsonb not null,
  sent_at timestamptz not null default now(),
  answered_at timestamptz,
  -- null = the process ended, or waits still
  outcome text check (outcome in ('done', 'refused', 'unsure')),
  primary key (job_id, n)
);
