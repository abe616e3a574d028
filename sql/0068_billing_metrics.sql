-- What a billing service reckons of a project, day by day: recurring revenue, what stands, trials. The last of a day is held.
create table billing_metric_day (
  account_id text not null references connected_account on delete cascade,
  -- UTC
  day date not null,
  -- of the figures that are money
  currency text not null,
  rows jsonb not null,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (account_id, day)
);
