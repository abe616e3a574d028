-- Processes that read the stores, each with what it reads: whether something is being measured depends on them, and a
-- server that only answers learns it here. The row is a sign of life, given anew every 20 seconds.
create table reader (
  process uuid primary key,
  egress text not null,
  -- [{kind, platform, upstream, storefronts}]: storefronts null = all; none = the country of its address is not known
  reads jsonb not null,
  seen_at timestamptz not null default now()
);
