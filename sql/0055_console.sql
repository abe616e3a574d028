-- What the seller's console says beside the reports of days: how people came to an app, and what it costs where.

-- What is asked for by itself: `analytics` looks for new reports of an app and `instance` reads one of them; `products` lists what
-- an app sells and `prices` reads what one of these costs.
create table console_turn (
  account_id text not null references connected_account on delete cascade,
  task text not null check (task in ('analytics', 'instance', 'products', 'prices')),
  -- the console's id of the app, of the report's file, or of the product
  subject text not null,
  -- of an analytics turn: whether reports are made for the app; of all others whether it was answered
  state text not null default 'due' check (state in ('due', 'ok', 'late', 'gone', 'none', 'stopped', 'denied')),
  read_at timestamptz,
  tries int not null default 0,
  failure text,
  -- since when somebody waits for it; null = nobody does
  asked_at timestamptz,
  -- null = not asked again
  next_at timestamptz default now(),
  primary key (account_id, task, subject)
);
create index console_turn_next_idx on console_turn (account_id, next_at) where next_at is not null;

-- A file of a report: what was processed on a day.
create table analytics_instance (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  report text not null,
  processed date not null,
  -- the console's id
  instance text not null,
  -- null = not read
  read_at timestamptz,
  primary key (account_id, app, report, processed)
);

-- What a file said of a day; of several the one with the newest processing date stands. No rows = nothing happened.
create table analytics_day (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  report text not null,
  day date not null,
  processed date not null,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  -- of the file
  sha256 bytea not null,
  rows jsonb not null,
  primary key (account_id, app, report, day, processed)
);

-- Derived of analytics_day, as answers ask for it.
create table funnel_fact (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  report text not null,
  day date not null,
  place int not null,
  -- null = the report names none
  country text,
  came_from text not null,
  counts_as text not null
    check (counts_as in ('impressions', 'pageViews', 'taps', 'firstDownloads', 'redownloads', 'other')),
  count int not null,
  primary key (account_id, app, report, day, place)
);

-- What an app sells, as the console lists it; the app itself is one.
create table account_product (
  account_id text not null references connected_account on delete cascade,
  -- the store's id of the app
  app text not null,
  -- the console's id; of the app itself that of the app
  product text not null,
  sold_as text not null check (sold_as in ('app', 'purchase', 'subscription')),
  -- the seller's own
  sku text not null,
  name text not null,
  -- of a subscription, as the console says it
  period text,
  -- as the console last said it; null = it is not listed any more
  listed_at timestamptz,
  primary key (account_id, app, product)
);

-- What a product costs in each territory, as seen on a day; a row for each day on which something was said that was not said before.
create table price_day (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  product text not null,
  -- UTC
  day date not null,
  sold_as text not null,
  sku text not null,
  name text not null,
  period text,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  rows jsonb not null,
  primary key (account_id, app, product, day)
);

-- Derived of price_day: from which day a product costs how much in a storefront. The last that has begun is in force; one that lies
-- ahead is announced. Nobody publishes earlier prices: before the first row nothing is known.
create table price_period (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  product text not null,
  country text not null,
  from_day date not null,
  -- false = the price is at least so old: on this day it was first seen
  since_known boolean not null,
  -- null = it is not sold there any more
  currency text,
  price numeric,
  -- what the seller gets
  proceeds numeric,
  -- after a subscriber's first year; null = the same, or no subscription
  proceeds_year2 numeric,
  -- Apple derives it from another storefront's; null = not said
  automatic boolean,
  primary key (account_id, app, product, country, from_day),
  check ((price is null) = (currency is null))
);
