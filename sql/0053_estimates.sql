-- What apps bring in a month, as it is thought now. Made in the worker.

-- Apps whose figures are to be made, or made anew: put forward by what is recorded of them.
create table estimate_due (
  app_id int primary key references store_app on delete cascade,
  -- null = nothing is known of it: not before something is recorded
  next_at timestamptz default now(),
  made_at timestamptz,
  -- somebody waits until then: what is recorded meanwhile is looked at once
  wanted_until timestamptz
) with (fillfactor = 70);
create index estimate_due_next_idx on estimate_due (next_at) where next_at is not null;

-- Of each app as it was made last; null = not known.
create table app_estimate (
  app_id int primary key references store_app on delete cascade,
  -- greater with each write, so that a process reads only what changed
  version bigint not null,
  made_at timestamptz not null,
  formula smallint not null,
  -- of the newest count that it rests on
  day date,
  markets smallint not null default 0 check (markets >= 0),
  -- days over which counts were compared; null = one count alone
  days smallint,
  basis text check (basis in ('measured', 'own', 'genre', 'prior')),
  pairs int,
  coverage float8,
  downloads float8 check (downloads >= 0),
  downloads_low float8,
  downloads_high float8,
  downloads_under float8 check (downloads_under > 0),
  revenue float8 check (revenue >= 0),
  revenue_low float8,
  revenue_high float8,
  revenue_under float8 check (revenue_under > 0),
  revenue_markets smallint,
  -- percent
  growth float8,
  growth_low float8,
  growth_high float8,
  check ((downloads is null) = (downloads_low is null) and (downloads is null) = (downloads_high is null)),
  check (downloads is null or downloads_under is null),
  check ((revenue is null) = (revenue_low is null) and (revenue is null) = (revenue_high is null)),
  check (revenue is null or revenue_under is null),
  check ((growth is null) = (growth_low is null) and (growth is null) = (growth_high is null))
);
create index app_estimate_version_idx on app_estimate (version, app_id);
