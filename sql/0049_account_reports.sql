-- What the reports of connected accounts said.

-- Each day of each report that is asked for. Late is not empty: of a late day there is no row of report_day.
create table report_turn (
  account_id text not null references connected_account on delete cascade,
  report text not null,
  day date not null,
  state text not null default 'due' check (state in ('due', 'late', 'rows', 'none', 'unavailable')),
  -- when it was last answered as its state says
  read_at timestamptz,
  tries int not null default 0,
  failure text,
  -- null = not asked again
  next_at timestamptz default now(),
  primary key (account_id, report, day)
);
create index report_turn_next_idx on report_turn (account_id, next_at) where next_at is not null;

-- What a report said of a day, a row for each thing that it said; the latest seen stands. No rows = published, and empty.
create table report_day (
  account_id text not null references connected_account on delete cascade,
  report text not null,
  day date not null,
  -- of the rows
  digest bytea not null,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  -- of the body
  sha256 bytea not null,
  rows jsonb not null,
  primary key (account_id, report, day, digest)
);

-- Derived of report_day, as answers ask for it. Money is in its own currency.
create table sales_fact (
  account_id text not null references connected_account on delete cascade,
  day date not null,
  place int not null,
  -- the SKU of the app, also of what is sold within it
  app text not null,
  country text not null,
  product text not null,
  title text not null,
  counts_as text not null
    check (counts_as in ('download', 'redownload', 'update', 'purchase', 'subscription', 'other')),
  units int not null,
  -- of the units, those given back, as a positive number
  refunds int not null,
  currency text not null,
  gross numeric not null,
  proceeds_currency text not null,
  proceeds numeric not null,
  primary key (account_id, day, place)
);
create index sales_fact_app_idx on sales_fact (account_id, app, day);

create table subscription_event_fact (
  account_id text not null references connected_account on delete cascade,
  day date not null,
  place int not null,
  -- the store's id of the app
  app text not null,
  country text not null,
  product text not null,
  event text not null,
  counts_as text not null,
  quantity int not null,
  primary key (account_id, day, place)
);
create index subscription_event_fact_app_idx on subscription_event_fact (account_id, app, day);

create table subscription_stock_fact (
  account_id text not null references connected_account on delete cascade,
  day date not null,
  place int not null,
  app text not null,
  country text not null,
  product text not null,
  active int not null,
  trials int not null,
  grace int not null,
  retry int not null,
  -- at a paid introductory, promotional, offer code or win-back price
  offers int not null,
  primary key (account_id, day, place)
);
create index subscription_stock_fact_app_idx on subscription_stock_fact (account_id, app, day);
