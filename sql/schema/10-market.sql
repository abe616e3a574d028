-- Estimates of downloads and revenue of any app, and the table that the market's finder reads.

-- The latest estimate of an app. Null if unknown.
create table app_estimate (
  app_id int primary key references store_app on delete cascade,
  -- Grows with each write, so that a process reads only the rows that changed.
  version bigint not null,
  made_at timestamptz not null,
  formula smallint not null,
  -- The day of the latest count that the estimate is based on.
  day date,
  markets smallint not null default 0 check (markets >= 0),
  -- Days between the compared counts. Null: a single count.
  days smallint,
  basis text check (basis in ('measured', 'own', 'genre', 'prior')),
  -- The genre whose downloads per rating were used. Null if unknown.
  genre text,
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
  -- price: downloads times price; place: by the place on the grossing chart. Null if there is no revenue.
  revenue_by text check (revenue_by in ('price', 'place')),
  revenue_markets smallint,
  -- In percent.
  growth float8,
  growth_low float8,
  growth_high float8,
  constraint app_estimate_downloads_interval_check check (
    (downloads is null) = (downloads_low is null) and (downloads is null) = (downloads_high is null)
  ),
  constraint app_estimate_downloads_or_bound_check check (downloads is null or downloads_under is null),
  constraint app_estimate_revenue_interval_check check (
    (revenue is null) = (revenue_low is null) and (revenue is null) = (revenue_high is null)
  ),
  constraint app_estimate_revenue_or_bound_check check (revenue is null or revenue_under is null),
  constraint app_estimate_growth_interval_check check (
    (growth is null) = (growth_low is null) and (growth is null) = (growth_high is null)
  )
);
create index app_estimate_version_idx on app_estimate (version, app_id);

-- Apps whose estimate must be calculated, or calculated again after something was recorded.
create table estimate_due (
  app_id int primary key references store_app on delete cascade,
  -- Null: nothing is known about the app, so it waits for the next record.
  next_at timestamptz default now(),
  made_at timestamptz,
  -- Until this time a caller waits, so that a new record is used at once.
  wanted_until timestamptz
) with (fillfactor = 70);
create index estimate_due_next_idx on estimate_due (next_at) where next_at is not null;

-- Estimates for the 30 days up to the end of a month, from ratings alone. Compared with Google Play's own counts, they
-- grade the method. Owners of tracked apps can compare them with their own figures.
create table estimate_grade (
  -- The first day of the month.
  month date not null,
  app_id int not null references store_app on delete cascade,
  formula smallint not null,
  ratings int not null check (ratings >= 0),
  storefronts text[] not null,
  -- Null: only an upper bound is known.
  value float8 check (value > 0),
  low float8 not null,
  high float8 not null,
  under float8,
  -- The store's count. Null if it shows none.
  truth float8 check (truth >= 0),
  primary key (month, app_id),
  constraint estimate_grade_value_or_bound_check check ((value is null) <> (under is null))
);

create table estimate_month (
  month date primary key,
  -- The last app that was graded.
  graded_to int not null default 0,
  -- Null while it runs.
  graded_at timestamptz,
  -- Null if there were too few apps.
  score jsonb,
  calibration jsonb
);

-- Derived: the columns of an app in a storefront that the finder reads. No index has a place or an estimate, so that
-- writing a place or an estimate changes no index.
create table market_app (
  app_id int not null references store_app,
  storefront text not null,
  -- The store's own number.
  store_id bigint not null,
  -- The first day on which a chart of the storefront showed the app. Null if the app was there when the charts were
  -- first read.
  first_day date,
  -- The best place on any list of the storefront, and on the lists of each kind. Null if the app is on none.
  rank smallint not null,
  free smallint,
  paid smallint,
  grossing smallint,
  ipad smallint,
  -- The estimates are as in app_estimate.
  downloads float8,
  downloads_under float8,
  revenue float8,
  revenue_under float8,
  growth float8,
  genre text,
  by_prior boolean not null,
  revenue_by text,
  primary key (app_id, storefront)
) with (fillfactor = 80);
create index market_app_storefront on market_app (storefront);
