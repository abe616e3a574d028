-- What Apple Ads says of an ad account: campaigns, what is bid on, what it cost and brought, what was changed, and how much is
-- searched for.

-- What is asked for by itself: of the account, of each campaign, or of a country.
create table ads_turn (
  account_id text not null references connected_account on delete cascade,
  task text not null check (task in ('campaigns', 'keywords', 'days', 'terms', 'changes', 'popularity')),
  -- the campaign or the country; of the account itself nothing
  subject text not null,
  -- when it was last answered
  read_at timestamptz,
  tries int not null default 0,
  failure text,
  next_at timestamptz not null default now(),
  primary key (account_id, task, subject)
);
create index ads_turn_next_idx on ads_turn (account_id, next_at);

-- What was said, a row for each thing that was said of a day; the latest seen stands. No rows = said, and empty.
create table ads_report (
  account_id text not null references connected_account on delete cascade,
  report text not null,
  -- the campaign or the country; of the account itself nothing
  about text not null,
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
  primary key (account_id, report, about, day, digest)
);

-- Derived of ads_report, as answers ask for it. Money is in the account's currency.
create table ads_campaign (
  account_id text not null references connected_account on delete cascade,
  campaign text not null,
  -- the store's id of the app
  app text not null,
  name text not null,
  status text not null,
  serving text,
  reasons text[] not null,
  countries text[] not null,
  -- a day; null = none is set
  budget numeric,
  currency text,
  bidding text,
  placement text,
  primary key (account_id, campaign)
);
create index ads_campaign_app_idx on ads_campaign (account_id, app);

-- Ad groups, keywords, and negative keywords of both ad groups and the campaign.
create table ads_thing (
  account_id text not null references connected_account on delete cascade,
  campaign text not null,
  thing text not null check (thing in ('group', 'keyword', 'negative')),
  id text not null,
  -- null = of the campaign itself, or an ad group
  ad_group text,
  name text,
  text text,
  match text,
  status text not null,
  -- null = the ad group's, or none
  bid numeric,
  currency text,
  -- of an ad group: Apple matches searches by itself
  automatic boolean,
  primary key (account_id, campaign, thing, id)
);

create table ads_day_fact (
  account_id text not null references connected_account on delete cascade,
  campaign text not null,
  -- of the account's own zone
  day date not null,
  place int not null,
  -- both null = the campaign as a whole, with what Apple matched by itself
  ad_group text,
  keyword text,
  country text not null,
  impressions int not null,
  taps int not null,
  installs int not null,
  new_downloads int not null,
  spend numeric not null,
  currency text not null,
  primary key (account_id, campaign, day, place)
);

-- The last window of each campaign.
create table ads_term_fact (
  account_id text not null references connected_account on delete cascade,
  campaign text not null,
  place int not null,
  -- the last of its window
  day date not null,
  ad_group text not null,
  -- null = Apple matched by itself
  keyword text,
  -- null = withheld
  term text,
  origin text not null,
  country text not null,
  impressions int not null,
  taps int not null,
  installs int not null,
  new_downloads int not null,
  spend numeric not null,
  currency text not null,
  primary key (account_id, campaign, place)
);

create table ads_change_fact (
  account_id text not null references connected_account on delete cascade,
  -- UTC
  day date not null,
  place int not null,
  -- the platform's id of what was changed together, in one thing
  change text not null,
  at timestamptz not null,
  changed_by text not null check (changed_by in ('dashboard', 'api', 'apple')),
  event text not null,
  entity text not null,
  entity_id text not null,
  campaign text,
  name text,
  field text not null,
  before text,
  after text,
  primary key (account_id, day, place)
);
create index ads_change_fact_at_idx on ads_change_fact (account_id, campaign, at desc);

-- The last week of each country. What is not listed is below the list: that is no zero.
create table ads_term_popularity (
  account_id text not null references connected_account on delete cascade,
  country text not null,
  term text not null,
  genre text not null,
  -- the week's Sunday
  day date not null,
  rank int not null,
  in_genre int not null,
  overall_100 int not null,
  overall_5 int not null,
  primary key (account_id, country, term, genre)
);
create index ads_term_popularity_rank_idx on ads_term_popularity (account_id, country, genre, rank);
