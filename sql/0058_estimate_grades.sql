-- What the figures of a month were worth, once the month is over.

-- Figures by ratings of the 30 days that end with the month: of an app that Google Play counts beside what it counted, so
-- that the way they are made is graded; of a tracked app of the App Store alone, for its owner to compare.
create table estimate_grade (
  -- its first day
  month date not null,
  app_id int not null references store_app on delete cascade,
  formula smallint not null,
  ratings int not null check (ratings >= 0),
  storefronts text[] not null,
  -- null = only that it is under an amount
  value float8 check (value > 0),
  low float8 not null,
  high float8 not null,
  under float8,
  -- null = the store counts it for nobody
  truth float8 check (truth >= 0),
  primary key (month, app_id),
  check ((value is null) <> (under is null))
);

create table estimate_month (
  month date primary key,
  -- apps up to this one were looked at
  graded_to int not null default 0,
  -- null = under way
  graded_at timestamptz,
  -- null = too few apps
  score jsonb,
  calibration jsonb
);
