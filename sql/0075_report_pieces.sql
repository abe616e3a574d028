-- A report of thousands of rows is stored some rows at a time, so that nobody waits for all of them, and counts once all are there.

-- Rows that are stored before what they are of counts: what a report said, or the facts that follow from it. What nothing names
-- goes, an hour after it was begun at the earliest.
create table report_set (
  id bigint generated always as identity primary key,
  account_id text not null references connected_account on delete cascade,
  -- the table that its rows stand in
  holds text not null,
  begun_at timestamptz not null default now()
);
create index report_set_account_idx on report_set (account_id);

create table report_piece (
  set_id bigint not null references report_set on delete cascade,
  -- how many rows stand before these
  place int not null,
  rows jsonb not null,
  primary key (set_id, place)
);

-- Whose facts stand where they came in pieces; of all others those of set 0 do.
create table fact_set (
  account_id text not null references connected_account on delete cascade,
  report text not null,
  -- the app, the campaign or the country; of the account itself nothing
  about text not null,
  -- -infinity = of what was said last, whatever its day
  day date not null,
  set_id bigint not null references report_set,
  primary key (account_id, report, about, day)
);
create index fact_set_set_idx on fact_set (set_id);

-- What a report said, row by row, wherever its rows stand.
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

alter table report_day alter column rows drop not null;
alter table report_day add column pieces bigint references report_set;
alter table report_day add constraint report_day_rows_check check ((rows is null) <> (pieces is null));
create index report_day_pieces_idx on report_day (pieces) where pieces is not null;

alter table analytics_day alter column rows drop not null;
alter table analytics_day add column pieces bigint references report_set;
alter table analytics_day add constraint analytics_day_rows_check check ((rows is null) <> (pieces is null));
create index analytics_day_pieces_idx on analytics_day (pieces) where pieces is not null;

alter table ads_report alter column rows drop not null;
alter table ads_report add column pieces bigint references report_set;
alter table ads_report add constraint ads_report_rows_check check ((rows is null) <> (pieces is null));
create index ads_report_pieces_idx on ads_report (pieces) where pieces is not null;

-- Facts of a set stand beside those of another; the views of the same names as before show those that count.

alter table sales_fact rename to sales_fact_row;
alter table sales_fact_row add column set_id bigint not null default 0;
alter table sales_fact_row drop constraint sales_fact_pkey;
alter table sales_fact_row add primary key (account_id, day, set_id, place);
create index sales_fact_set_idx on sales_fact_row (set_id) where set_id > 0;
create view sales_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.title, f.counts_as, f.units, f.refunds, f.currency,
  f.gross, f.proceeds_currency, f.proceeds, f.free_units, f.refunded
from sales_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'sales' and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

alter table subscription_stock_fact rename to subscription_stock_fact_row;
alter table subscription_stock_fact_row add column set_id bigint not null default 0;
alter table subscription_stock_fact_row drop constraint subscription_stock_fact_pkey;
alter table subscription_stock_fact_row add primary key (account_id, day, set_id, place);
create index subscription_stock_fact_set_idx on subscription_stock_fact_row (set_id) where set_id > 0;
create view subscription_stock_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.active, f.trials, f.grace, f.retry, f.offers
from subscription_stock_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'subscriptions' and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

alter table subscription_event_fact rename to subscription_event_fact_row;
alter table subscription_event_fact_row add column set_id bigint not null default 0;
alter table subscription_event_fact_row drop constraint subscription_event_fact_pkey;
alter table subscription_event_fact_row add primary key (account_id, day, set_id, place);
create index subscription_event_fact_set_idx on subscription_event_fact_row (set_id) where set_id > 0;
create view subscription_event_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.event, f.counts_as, f.quantity
from subscription_event_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'subscription_events' and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

alter table funnel_fact rename to funnel_fact_row;
alter table funnel_fact_row add column set_id bigint not null default 0;
alter table funnel_fact_row drop constraint funnel_fact_pkey;
alter table funnel_fact_row add primary key (account_id, app, report, day, set_id, place);
create index funnel_fact_set_idx on funnel_fact_row (set_id) where set_id > 0;
create view funnel_fact as
select f.account_id, f.app, f.report, f.day, f.place, f.country, f.came_from, f.counts_as, f.count
from funnel_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = f.report and s.about = f.app and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

alter table ads_campaign rename to ads_campaign_row;
alter table ads_campaign_row add column set_id bigint not null default 0;
alter table ads_campaign_row drop constraint ads_campaign_pkey;
alter table ads_campaign_row add primary key (account_id, campaign, set_id);
create index ads_campaign_set_idx on ads_campaign_row (set_id) where set_id > 0;
create view ads_campaign as
select f.account_id, f.campaign, f.app, f.name, f.status, f.serving, f.reasons, f.countries, f.budget, f.currency, f.bidding,
  f.placement
from ads_campaign_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_campaigns' and s.about = '' and s.day = '-infinity'
where f.set_id = coalesce(s.set_id, 0);

alter table ads_thing rename to ads_thing_row;
alter table ads_thing_row add column set_id bigint not null default 0;
alter table ads_thing_row drop constraint ads_thing_pkey;
alter table ads_thing_row add primary key (account_id, campaign, thing, id, set_id);
create index ads_thing_set_idx on ads_thing_row (set_id) where set_id > 0;
create view ads_thing as
select f.account_id, f.campaign, f.thing, f.id, f.ad_group, f.name, f.text, f.match, f.status, f.bid, f.currency, f.automatic
from ads_thing_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_keywords' and s.about = f.campaign and s.day =
  '-infinity'
where f.set_id = coalesce(s.set_id, 0);

alter table ads_day_fact rename to ads_day_fact_row;
alter table ads_day_fact_row add column set_id bigint not null default 0;
alter table ads_day_fact_row drop constraint ads_day_fact_pkey;
alter table ads_day_fact_row add primary key (account_id, campaign, day, set_id, place);
create index ads_day_fact_set_idx on ads_day_fact_row (set_id) where set_id > 0;
create view ads_day_fact as
select f.account_id, f.campaign, f.day, f.place, f.ad_group, f.keyword, f.country, f.impressions, f.taps, f.installs,
  f.new_downloads, f.spend, f.currency
from ads_day_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_days' and s.about = f.campaign and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

alter table ads_term_fact rename to ads_term_fact_row;
alter table ads_term_fact_row add column set_id bigint not null default 0;
alter table ads_term_fact_row drop constraint ads_term_fact_pkey;
alter table ads_term_fact_row add primary key (account_id, campaign, set_id, place);
create index ads_term_fact_set_idx on ads_term_fact_row (set_id) where set_id > 0;
create view ads_term_fact as
select f.account_id, f.campaign, f.place, f.day, f.ad_group, f.keyword, f.term, f.origin, f.country, f.impressions, f.taps,
  f.installs, f.new_downloads, f.spend, f.currency
from ads_term_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_terms' and s.about = f.campaign and s.day = '-infinity'
where f.set_id = coalesce(s.set_id, 0);

alter table ads_change_fact rename to ads_change_fact_row;
alter table ads_change_fact_row add column set_id bigint not null default 0;
alter table ads_change_fact_row drop constraint ads_change_fact_pkey;
alter table ads_change_fact_row add primary key (account_id, day, set_id, place);
create index ads_change_fact_set_idx on ads_change_fact_row (set_id) where set_id > 0;
create view ads_change_fact as
select f.account_id, f.day, f.place, f.change, f.at, f.changed_by, f.event, f.entity, f.entity_id, f.campaign, f.name,
  f.field, f.before, f.after
from ads_change_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_changes' and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);

alter table ads_term_popularity rename to ads_term_popularity_row;
alter table ads_term_popularity_row add column set_id bigint not null default 0;
alter table ads_term_popularity_row drop constraint ads_term_popularity_pkey;
alter table ads_term_popularity_row add primary key (account_id, country, term, genre, set_id);
create index ads_term_popularity_set_idx on ads_term_popularity_row (set_id) where set_id > 0;
create view ads_term_popularity as
select f.account_id, f.country, f.term, f.genre, f.day, f.rank, f.in_genre, f.overall_100, f.overall_5
from ads_term_popularity_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'ads_popularity' and s.about = f.country and s.day =
  '-infinity'
where f.set_id = coalesce(s.set_id, 0);
