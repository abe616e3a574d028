-- Connected accounts of a workspace (App Store Connect, Apple Ads, billing services): how they are read, the contents
-- of their reports, and the facts derived from these. Money is in the currency of its row.

create table connected_account (
  id text primary key,
  workspace_id int not null references workspace,
  kind text not null,
  -- The part of the key that may be shown.
  shown text not null,
  -- The part of the key's data that the account reads, such as the vendor number. Not a secret.
  part text not null,
  -- The time zone of the account's days, and its currency. Null: each report names its own.
  zone text,
  currency text,
  -- The encrypted key. Null once the account is removed: the secret is destroyed, the data stays.
  sealed text,
  -- Whether writes are switched on. Writes use a separate key, or the key that reads.
  writes boolean not null default false,
  sealed_write text,
  -- The part of the writing key that may be shown.
  shown_write text,
  -- Limits that differ from the defaults, by name.
  write_limits jsonb not null default '{}',
  -- 'demo' is an account with invented figures that no key opens and that is never read.
  state text not null default 'connecting' check (state in (
    'connecting', 'ok', 'limited', 'agreement_required', 'revoked', 'paused', 'removed', 'demo'
  )),
  state_since timestamptz not null default now(),
  -- Why the state is not ok, in a sentence for people.
  why text,
  created_at timestamptz not null default now(),
  last_ok timestamptz,
  last_failure timestamptz,
  failure text,
  failures int not null default 0 check (failures >= 0),
  -- Since when the console refuses a freshly signed token. Null if it accepted the last one.
  refused_since timestamptz,
  checked_at timestamptz,
  -- Null: nothing is due.
  next_at timestamptz default now(),
  lease uuid,
  lease_until timestamptz,
  -- The version of each report that the console last named. An empty text: the console accepts no version of the
  -- report.
  report_versions jsonb not null default '{}',
  constraint connected_account_lease_check check ((lease is null) = (lease_until is null)),
  constraint connected_account_write_key_needs_read_key check (sealed_write is null or sealed is not null),
  constraint connected_account_shown_write_check check ((sealed_write is null) = (shown_write is null)),
  constraint connected_account_demo_check check (state <> 'demo' or next_at is null and not writes),
  constraint connected_account_sealed_check check ((sealed is null) = (state in ('removed', 'demo')))
);
create index connected_account_workspace_idx on connected_account (workspace_id);
create index connected_account_next_idx on connected_account (next_at) where next_at is not null;
-- Loading the demo again, even from several processes at once, makes no second account.
create unique index connected_account_demo_idx on connected_account (workspace_id, kind) where state = 'demo';

create table account_right (
  account_id text not null references connected_account on delete cascade,
  name text not null,
  state text not null check (state in ('ok', 'denied', 'unknown')),
  why text,
  seen_at timestamptz not null default now(),
  primary key (account_id, name)
);

-- The apps of an account, and the tracked app that each of them is.
create table account_app (
  account_id text not null references connected_account on delete cascade,
  outside_id text not null,
  sku text not null,
  name text not null,
  bundle_id text not null,
  app_id text references tracked_app on delete set null,
  -- Whether a person chose the tracked app. Reading the account does not change it then.
  by_hand boolean not null default false,
  primary key (account_id, outside_id)
);
create index account_app_app_idx on account_app (app_id) where app_id is not null;

-- Products of an app, as the console lists them. The app itself is one of its products.
create table account_product (
  account_id text not null references connected_account on delete cascade,
  -- The store's id of the app.
  app text not null,
  -- The console's id of the product; for the app itself, the app's id.
  product text not null,
  sold_as text not null check (sold_as in ('app', 'purchase', 'subscription')),
  -- The seller's own id.
  sku text not null,
  name text not null,
  -- The period of a subscription.
  period text,
  -- When the console last listed the product. Null if the console no longer lists it.
  listed_at timestamptz,
  primary key (account_id, app, product)
);

-- Offers at a price that differs from the usual one: to new subscribers, to earlier subscribers, and for codes.
create table account_offer (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  product text not null,
  kind text not null check (kind in ('introductory', 'promotional', 'code')),
  -- The console's id. Introductory offers have one per territory and are identified by their terms instead.
  offer text not null,
  name text,
  mode text,
  duration text,
  periods int,
  active boolean,
  codes int,
  -- Null if the offer belongs to no territory.
  countries text[],
  starts date,
  ends date,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  primary key (account_id, app, product, kind, offer)
);

-- Sets of rows that are stored in pieces before they count: the rows of a report, or the facts derived from it. A set
-- that nothing references is deleted, no earlier than an hour after it was begun.
create table report_set (
  id bigint generated always as identity primary key,
  account_id text not null references connected_account on delete cascade,
  -- The table that has the rows.
  holds text not null,
  begun_at timestamptz not null default now()
);
create index report_set_account_idx on report_set (account_id);

create table report_piece (
  set_id bigint not null references report_set on delete cascade,
  -- How many rows come before these.
  place int not null,
  rows jsonb not null,
  primary key (set_id, place)
);

-- Which set of facts counts. Without a row here, the facts of set 0 count.
create table fact_set (
  account_id text not null references connected_account on delete cascade,
  report text not null,
  -- The app, the campaign or the country; '' for the account itself.
  about text not null,
  -- -infinity: the facts of the latest reading, whatever its day.
  day date not null,
  set_id bigint not null references report_set,
  primary key (account_id, report, about, day)
);
create index fact_set_set_idx on fact_set (set_id);

-- Tasks of connected accounts, with the outcome: the days of reports, and single questions to a console or an ad
-- account. Late is not empty: a late day has no row in report_day.
create table account_task (
  account_id text not null references connected_account on delete cascade,
  -- A report by days, or a question.
  task text not null,
  -- The day of a report; else the platform's id of an app, file, product or campaign, or a country. '' for the account
  -- itself.
  subject text not null,
  -- The day that the task is about; tasks about newer days are read first. Null if it is about no day.
  day date,
  -- read: with rows; empty: published without rows; late: not published yet, or not readable; denied: the key's role
  -- does not include it; gone: unknown to the platform; not_requested, stopped: the console does not make the report.
  state text not null default 'due' check (state in (
    'due', 'read', 'empty', 'late', 'denied', 'gone', 'not_requested', 'stopped'
  )),
  -- When the report or question was last read.
  read_at timestamptz,
  -- Failures since the last answer.
  tries int not null default 0,
  failure text,
  -- How many rows of the answer were left out, and why.
  put_aside text,
  -- Since when a caller waits for the result. Null if no caller waits.
  asked_at timestamptz,
  -- The time of the next reading. Null: there is none.
  next_at timestamptz default now(),
  primary key (account_id, task, subject)
);
create index account_task_next_idx on account_task (account_id, next_at) where next_at is not null;

-- Contents of a report about a day; the latest reading counts. Without rows it was published and empty.
create table report_day (
  account_id text not null references connected_account on delete cascade,
  report text not null,
  -- The app of a report about one; '' for the account itself.
  about text not null default '',
  day date not null,
  -- A hash of the rows.
  digest bytea not null,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  -- A hash of the body.
  sha256 bytea not null,
  -- The rows are either here or in the pieces of a set.
  rows jsonb,
  pieces bigint references report_set,
  -- The file of a month that the day is from, with its generation. Null for reports that are requested by day.
  file text,
  -- Sales only: units by app and storefront, so that a restated day is noticed without reading its rows. Null for other
  -- reports.
  units jsonb,
  primary key (account_id, report, about, day, digest),
  constraint report_day_rows_check check ((rows is null) <> (pieces is null))
);
create index report_day_pieces_idx on report_day (pieces) where pieces is not null;
create index report_day_said on report_day (account_id, report, day) include (seen_at);

create table sales_fact_row (
  account_id text not null references connected_account on delete cascade,
  -- 'sales' of the App Store; settled 'play_earnings' and estimated 'play_sales' of Google Play.
  report text not null default 'sales',
  day date not null,
  place int not null,
  -- The SKU or the package of the app, also for products that are sold within the app.
  app text not null,
  country text not null,
  product text not null,
  title text not null,
  counts_as text not null check (counts_as in (
    'download', 'redownload', 'update', 'purchase', 'subscription', 'other'
  )),
  units int not null,
  -- The units given back, as a positive number.
  refunds int not null,
  -- Units that cost nothing.
  free_units int,
  currency text not null,
  gross numeric not null,
  -- Money given back, as a positive number.
  refunded numeric,
  proceeds_currency text not null,
  proceeds numeric not null,
  set_id bigint not null default 0,
  primary key (account_id, report, day, set_id, place)
);
create index sales_fact_app_idx on sales_fact_row (account_id, app, day);
create index sales_fact_set_idx on sales_fact_row (set_id) where set_id > 0;

create table subscription_event_fact_row (
  account_id text not null references connected_account on delete cascade,
  day date not null,
  place int not null,
  -- The store's id of the app.
  app text not null,
  country text not null,
  product text not null,
  event text not null,
  counts_as text not null,
  quantity int not null,
  set_id bigint not null default 0,
  primary key (account_id, day, set_id, place)
);
create index subscription_event_fact_app_idx on subscription_event_fact_row (account_id, app, day);
create index subscription_event_fact_set_idx on subscription_event_fact_row (set_id) where set_id > 0;

create table subscription_stock_fact_row (
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
  -- Subscriptions at a paid introductory, promotional, offer code or win-back price.
  offers int not null,
  set_id bigint not null default 0,
  primary key (account_id, day, set_id, place)
);
create index subscription_stock_fact_app_idx on subscription_stock_fact_row (account_id, app, day);
create index subscription_stock_fact_set_idx on subscription_stock_fact_row (set_id) where set_id > 0;

-- How often the codes of an offer were redeemed.
create table offer_redemption_fact_row (
  account_id text not null references connected_account on delete cascade,
  day date not null,
  place int not null,
  -- The store's ids of the app and of the subscription.
  app text not null,
  country text not null,
  product text not null,
  -- The reference name, as in account_offer.
  offer text not null,
  redemptions int not null,
  set_id bigint not null default 0,
  primary key (account_id, day, set_id, place)
);
create index offer_redemption_fact_app_idx on offer_redemption_fact_row (account_id, app, day);
create index offer_redemption_fact_set_idx on offer_redemption_fact_row (set_id) where set_id > 0;

-- The file of a report with the data that the console processed on a day.
create table analytics_instance (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  report text not null,
  processed date not null,
  -- The console's id.
  instance text not null,
  -- Null if it was not read.
  read_at timestamptz,
  primary key (account_id, app, report, processed)
);

-- Contents of a file about a day; the file with the newest processing date counts. Without rows nothing happened.
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
  -- A hash of the file.
  sha256 bytea not null,
  -- The rows are either here or in the pieces of a set.
  rows jsonb,
  pieces bigint references report_set,
  primary key (account_id, app, report, day, processed),
  constraint analytics_day_rows_check check ((rows is null) <> (pieces is null))
);
create index analytics_day_pieces_idx on analytics_day (pieces) where pieces is not null;

-- Derived from analytics_day, and from the rows of report_day about visitors and installs on Google Play.
create table funnel_fact_row (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  report text not null,
  day date not null,
  place int not null,
  -- Null if the report names none.
  country text,
  came_from text not null,
  counts_as text not null check (counts_as in (
    'impressions', 'pageViews', 'taps', 'firstDownloads', 'redownloads', 'other'
  )),
  -- Null if Google withholds it, which differs from 0.
  count int,
  set_id bigint not null default 0,
  primary key (account_id, app, report, day, set_id, place)
);
create index funnel_fact_set_idx on funnel_fact_row (set_id) where set_id > 0;

-- Price of a product in each territory, as seen on a UTC day. Only days with something new have a row.
create table price_day (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  product text not null,
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

-- Derived from price_day: the prices of a product in a storefront, each with its first day. The last price whose day
-- has come applies; a later price is announced. Before the first row the price is unknown, because earlier prices are
-- published nowhere.
create table price_period (
  account_id text not null references connected_account on delete cascade,
  app text not null,
  product text not null,
  country text not null,
  from_day date not null,
  -- False if the price was first seen on this day and may be older.
  since_known boolean not null,
  -- Null if the product is no longer sold there.
  currency text,
  price numeric,
  -- Proceeds of the seller.
  proceeds numeric,
  -- Proceeds of the seller after a subscriber's first year. Null if it is the same, or for products other than
  -- subscriptions.
  proceeds_year2 numeric,
  -- Whether Apple derives the price from another storefront's. Null if unknown.
  automatic boolean,
  primary key (account_id, app, product, country, from_day),
  constraint price_period_currency_check check ((price is null) = (currency is null))
);

-- Reports of billing services and the App Store about purchases, message by message. Only these fields are stored; none
-- of them identifies the buyer.
create table billing_event (
  account_id text not null references connected_account on delete cascade,
  -- The sender's id of the message. A repeated message has the same id.
  event_id text not null,
  -- The sender's name for the type of the message.
  type text not null,
  counts_as text not null,
  -- production or sandbox.
  environment text not null,
  -- app_store, play_store or other.
  store text not null,
  happened_at timestamptz not null,
  product text,
  country text,
  -- Whether the country is the storefront (the store's own notifications) or where the phone was last seen (a billing
  -- service).
  country_is text,
  currency text,
  -- The amount that the customer paid for one piece; negative if the amount was refunded. Null if the message has none.
  price numeric,
  price_usd numeric,
  -- How many pieces the message is about.
  quantity int not null default 1,
  offer text,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (account_id, event_id)
);
create index billing_event_happened_idx on billing_event (account_id, happened_at);
-- Finds when a service sent its first and its last message.
create index billing_event_seen_idx on billing_event (account_id, seen_at);
-- Finds the first and the last message about purchases on Google Play: an account may have none among millions of
-- messages.
create index billing_event_play_idx on billing_event (account_id, seen_at) where store = 'play_store';

-- Figures that a billing service calculates for a project and UTC day: recurring revenue, active subscriptions, trials.
-- The last reading of the day.
create table billing_metric_day (
  account_id text not null references connected_account on delete cascade,
  day date not null,
  -- The currency of those figures that are money.
  currency text not null,
  rows jsonb not null,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (account_id, day)
);

-- Facts of a review in Google Play Console besides its text. The text is in review_version: in a feed of the store, or,
-- until the store's page shows the review, in a feed of the account.
create table console_review (
  account_id text not null references connected_account on delete cascade,
  app_id int not null references store_app,
  -- The store's id.
  review_id text not null,
  -- When the review was written or last edited.
  at timestamptz not null,
  -- The language of the reviewer's device (en, pt-BR). Null if the console names none. It names no country.
  language text,
  -- The app's version, and the number of that version. Null if unknown.
  version text,
  version_code bigint,
  -- The maker's code name of the device, and the API level of its Android. Null if unknown.
  device text,
  android_api int,
  -- The developer's reply, and when it was last changed. Null if there is none.
  reply text,
  reply_at timestamptz,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (account_id, app_id, review_id),
  constraint console_review_reply_check check ((reply is null) = (reply_at is null))
);

-- Feeds name their account without a foreign key. Deletes them with the account, because nobody may see them without
-- it.
create function forget_console_reviews() returns trigger language plpgsql as $$
begin
  delete from review_version v
  using (select distinct app_id from console_review where account_id = old.id) a
  where v.app_id = a.app_id and starts_with(v.feed, 'console-' || old.id || '-');
  delete from review_day d
  using (select distinct app_id from console_review where account_id = old.id) a
  where d.app_id = a.app_id and starts_with(d.feed, 'console-' || old.id || '-');
  delete from review_feed f
  using (select distinct app_id from console_review where account_id = old.id) a
  where f.app_id = a.app_id and starts_with(f.feed, 'console-' || old.id || '-');
  return old;
end $$;

create trigger connected_account_forgotten
before delete on connected_account
for each row execute function forget_console_reviews();

-- Responses of Apple Ads about a day; the latest reading counts. Without rows the response was empty.
create table ads_report (
  account_id text not null references connected_account on delete cascade,
  report text not null,
  -- The campaign or the country; '' for the account itself.
  about text not null,
  day date not null,
  -- A hash of the rows.
  digest bytea not null,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  -- A hash of the body.
  sha256 bytea not null,
  -- The rows are either here or in the pieces of a set.
  rows jsonb,
  pieces bigint references report_set,
  primary key (account_id, report, about, day, digest),
  constraint ads_report_rows_check check ((rows is null) <> (pieces is null))
);
-- Readings that a later one replaced are deleted after a while, oldest first.
create index ads_report_seen_idx on ads_report (seen_at);
create index ads_report_pieces_idx on ads_report (pieces) where pieces is not null;

-- The facts of ads are derived from ads_report. Money is in the account's currency.
create table ads_campaign_row (
  account_id text not null references connected_account on delete cascade,
  campaign text not null,
  -- The store's id of the app.
  app text not null,
  name text not null,
  status text not null,
  serving text,
  reasons text[] not null,
  countries text[] not null,
  -- The budget per day. Null if none is set.
  budget numeric,
  currency text,
  bidding text,
  placement text,
  set_id bigint not null default 0,
  primary key (account_id, campaign, set_id)
);
create index ads_campaign_app_idx on ads_campaign_row (account_id, app);
create index ads_campaign_set_idx on ads_campaign_row (set_id) where set_id > 0;

-- Ad groups, keywords, and negative keywords of both ad groups and campaigns.
create table ads_thing_row (
  account_id text not null references connected_account on delete cascade,
  campaign text not null,
  thing text not null check (thing in ('group', 'keyword', 'negative')),
  id text not null,
  -- Null for an ad group, and for what belongs to the campaign itself.
  ad_group text,
  name text,
  text text,
  match text,
  status text not null,
  -- Null: the ad group's bid, or none.
  bid numeric,
  currency text,
  -- Ad groups only: whether Apple matches searches by itself.
  automatic boolean,
  set_id bigint not null default 0,
  primary key (account_id, campaign, thing, id, set_id)
);
create index ads_thing_set_idx on ads_thing_row (set_id) where set_id > 0;

-- A null figure is unknown, not zero.
create table ads_day_fact_row (
  account_id text not null references connected_account on delete cascade,
  campaign text not null,
  -- In the account's time zone.
  day date not null,
  place int not null,
  -- Both null: the campaign as a whole, including what Apple matched by itself.
  ad_group text,
  keyword text,
  country text not null,
  impressions int,
  taps int,
  installs int,
  new_downloads int,
  spend numeric,
  currency text not null,
  set_id bigint not null default 0,
  primary key (account_id, campaign, day, set_id, place)
);
create index ads_day_fact_set_idx on ads_day_fact_row (set_id) where set_id > 0;

-- The last window of each campaign. A null figure is unknown, not zero.
create table ads_term_fact_row (
  account_id text not null references connected_account on delete cascade,
  campaign text not null,
  place int not null,
  -- The last day of the window.
  day date not null,
  -- Null: the rest of the campaign, which Apple shows in no row.
  ad_group text,
  -- Null: Apple matched the search by itself.
  keyword text,
  -- Null: withheld.
  term text,
  origin text not null,
  country text not null,
  impressions int,
  taps int,
  installs int,
  new_downloads int,
  spend numeric,
  currency text not null,
  set_id bigint not null default 0,
  primary key (account_id, campaign, set_id, place)
);
create index ads_term_fact_set_idx on ads_term_fact_row (set_id) where set_id > 0;

create table ads_change_fact_row (
  account_id text not null references connected_account on delete cascade,
  -- UTC.
  day date not null,
  place int not null,
  -- Apple's id of the changes that were made together in one entity.
  change text not null,
  at timestamptz not null,
  -- 'other': a kind of user that this version does not know.
  changed_by text not null check (changed_by in ('dashboard', 'api', 'apple', 'other')),
  event text not null,
  entity text not null,
  entity_id text not null,
  campaign text,
  name text,
  field text not null,
  before text,
  after text,
  set_id bigint not null default 0,
  primary key (account_id, day, set_id, place)
);
create index ads_change_fact_at_idx on ads_change_fact_row (account_id, campaign, at desc);
create index ads_change_fact_set_idx on ads_change_fact_row (set_id) where set_id > 0;

-- The last week of each country. A term that is not listed has a value below those of the list, which is not zero.
create table ads_term_popularity_row (
  account_id text not null references connected_account on delete cascade,
  country text not null,
  term text not null,
  genre text not null,
  -- The Sunday of the week.
  day date not null,
  rank int not null,
  in_genre int not null,
  overall_100 int not null,
  overall_5 int not null,
  set_id bigint not null default 0,
  primary key (account_id, country, term, genre, set_id)
);
create index ads_term_popularity_rank_idx on ads_term_popularity_row (account_id, country, genre, rank);
create index ads_term_popularity_set_idx on ads_term_popularity_row (set_id) where set_id > 0;

-- The facts of each day or report that count (see fact_set).
create view sales_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.title, f.counts_as, f.units, f.refunds,
  f.currency, f.gross, f.proceeds_currency, f.proceeds, f.free_units, f.refunded
from sales_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = f.report and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0) and f.report <> 'play_sales';

-- Orders of Google Play before they are settled. Never sum them up with sales_fact. They have no proceeds.
create view estimated_sales_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.title, f.counts_as, f.units, f.refunds,
  f.currency, f.gross, f.free_units, f.refunded
from sales_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = f.report and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0) and f.report = 'play_sales';

create view subscription_event_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.event, f.counts_as, f.quantity
from subscription_event_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'subscription_events' and s.about = ''
  and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

create view subscription_stock_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.active, f.trials, f.grace, f.retry, f.offers
from subscription_stock_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'subscriptions' and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

create view offer_redemption_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.offer, f.redemptions
from offer_redemption_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'offer_redemptions' and s.about = ''
  and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

create view funnel_fact as
select f.account_id, f.app, f.report, f.day, f.place, f.country, f.came_from, f.counts_as, f.count
from funnel_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = f.report and s.about = f.app and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

create view ads_campaign as
select f.account_id, f.campaign, f.app, f.name, f.status, f.serving, f.reasons, f.countries, f.budget, f.currency,
  f.bidding, f.placement
from ads_campaign_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_campaigns' and s.about = ''
  and s.day = '-infinity'
where f.set_id = coalesce(s.set_id, 0);

create view ads_thing as
select f.account_id, f.campaign, f.thing, f.id, f.ad_group, f.name, f.text, f.match, f.status, f.bid, f.currency,
  f.automatic
from ads_thing_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_keywords' and s.about = f.campaign
  and s.day = '-infinity'
where f.set_id = coalesce(s.set_id, 0);

create view ads_day_fact as
select f.account_id, f.campaign, f.day, f.place, f.ad_group, f.keyword, f.country, f.impressions, f.taps, f.installs,
  f.new_downloads, f.spend, f.currency
from ads_day_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_days' and s.about = f.campaign and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

create view ads_term_fact as
select f.account_id, f.campaign, f.place, f.day, f.ad_group, f.keyword, f.term, f.origin, f.country, f.impressions,
  f.taps, f.installs, f.new_downloads, f.spend, f.currency
from ads_term_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_terms' and s.about = f.campaign
  and s.day = '-infinity'
where f.set_id = coalesce(s.set_id, 0);

create view ads_change_fact as
select f.account_id, f.day, f.place, f.change, f.at, f.changed_by, f.event, f.entity, f.entity_id, f.campaign, f.name,
  f.field, f.before, f.after
from ads_change_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_changes' and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

create view ads_term_popularity as
select f.account_id, f.country, f.term, f.genre, f.day, f.rank, f.in_genre, f.overall_100, f.overall_5
from ads_term_popularity_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_popularity' and s.about = f.country
  and s.day = '-infinity'
where f.set_id = coalesce(s.set_id, 0);

-- said_rows: the rows of a report, whether they are in the row itself or in pieces.
create function said_rows(said jsonb, pieces bigint) returns table (item jsonb, place bigint)
language sql stable
as $$
  select e.row, e.place
  from jsonb_array_elements(said) with ordinality e (row, place)
  union all
  select e.row, p.place + e.place
  from report_piece p
  cross join lateral jsonb_array_elements(p.rows) with ordinality e (row, place)
  where p.set_id = pieces
$$;
