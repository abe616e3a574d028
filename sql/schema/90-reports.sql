-- SQL for spreadsheets and BI tools (appmeter sql grant): the views report_* and the database roles that read them. A
-- role belongs to one workspace, and a view shows it the rows of that workspace only: the views read with the rights of
-- their owner and filter by current_user. A role has no right on any table. security_barrier keeps conditions of the
-- reader that could leak a value (their functions) above that filter.
--
-- Absent is not unmeasured: what was not measured has no row, what was measured without a value has a row with null.
-- Every row names its source and the time of its reading. A view calls built-in functions only, because a function in a
-- view runs with the rights of the reader.

create table sql_role (
  -- The name of a database role. PostgreSQL cuts longer names.
  role text primary key check (length(role) between 1 and 63),
  workspace_id int not null references workspace,
  -- Whether the role reads revenue and ads.
  money boolean not null default false,
  created_at timestamptz not null default now()
);
create index sql_role_workspace on sql_role (workspace_id);

-- The workspace of the reader. No row for a role that is not in sql_role, such as the owner of these tables.
create view sql_reader with (security_barrier) as
select r.workspace_id, r.money
from sql_role r
join workspace w on w.id = r.workspace_id
where r.role = current_user and w.suspended_at is null and w.deleted_at is null;

-- Every day since 2015, with its place in the bytes of a month (rank_month).
create view sql_day as
select d.day, date_trunc('month', d.day::timestamp)::date as month, extract(day from d.day)::int - 1 as place
from (
  select date '2015-01-01' + n as day
  from generate_series(0, (now() at time zone 'utc')::date - date '2015-01-01') n
) d;

-- The language of a storefront's reviews on Google Play: lib/review-language.ts in SQL.
create view play_review_language as
select s.storefront, l.language
from (
  values
    ('ar', 'ae bh dz eg eh iq jo kw lb ly ma mr om ps qa sa sd tn ye'),
    ('az', 'az'),
    ('bg', 'bg'),
    ('bn', 'bd'),
    ('bs', 'ba'),
    ('cs', 'cz'),
    ('da', 'dk fo gl'),
    ('de', 'at ch de li'),
    ('el', 'cy gr'),
    ('es', 'ad ar bo cl co cr cu do ec es gq gt hn mx ni pa pe pr py sv uy ve'),
    ('et', 'ee'),
    ('fa', 'ir'),
    ('fi', 'fi'),
    ('fr', 'bf bi bj bl cd cf cg ci cm dj fr ga gf gn gp ht km lu mc mf mg ml mq nc ne pf pm re sc sn td tg wf yt'),
    ('hr', 'hr'),
    ('hu', 'hu'),
    ('hy', 'am'),
    ('id', 'id'),
    ('is', 'is'),
    ('it', 'it sm va'),
    ('iw', 'il'),
    ('ja', 'jp'),
    ('ka', 'ge'),
    ('km', 'kh'),
    ('ko', 'kr'),
    ('lo', 'la'),
    ('lt', 'lt'),
    ('lv', 'lv'),
    ('mk', 'mk'),
    ('mn', 'mn'),
    ('ms', 'bn my'),
    ('my', 'mm'),
    ('nl', 'aw be bq cw nl sr sx'),
    ('no', 'no sj'),
    ('pl', 'pl'),
    ('pt-BR', 'br'),
    ('pt-PT', 'ao cv gw mz pt st'),
    ('ro', 'md ro'),
    ('ru', 'by kg kz ru tj tm uz'),
    ('sk', 'sk'),
    ('sl', 'si'),
    ('sq', 'al xk'),
    ('sr', 'me rs'),
    ('sv', 'ax se'),
    ('th', 'th'),
    ('tr', 'tr'),
    ('uk', 'ua'),
    ('vi', 'vn'),
    ('zh-CN', 'cn'),
    ('zh-HK', 'hk mo'),
    ('zh-TW', 'tw')
) l (language, storefronts)
cross join lateral string_to_table(l.storefronts, ' ') s (storefront);

-- The reader's apps, one row per store.
create view sql_reader_app with (security_barrier) as
select a.id as app_id, s.platform, s.store_app, p.store_id, p.genre, a.countries, a.origin, r.workspace_id, r.money,
  coalesce(
    a.name,
    (
      select n.name
      from store_app_name n
      where n.app_id = s.store_app and n.name is not null
      order by n.storefront <> all(a.countries), array_position(a.countries, n.storefront), n.storefront
      limit 1
    ),
    p.store_id
  ) as app_name
from sql_reader r
join tracked_app a on a.workspace_id = r.workspace_id
cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) s (platform, store_app)
join store_app p on p.id = s.store_app;

create view report_apps with (security_barrier) as
select a.app_id, a.app_name, a.platform, a.store_id, a.countries as storefronts, a.origin
from sql_reader_app a;

comment on view report_apps is 'Your apps, one row per store.';
comment on column report_apps.app_id is 'Id of the app. The same in every view.';
comment on column report_apps.app_name is 'Name of the app.';
comment on column report_apps.platform is 'ios (App Store) or android (Google Play).';
comment on column report_apps.store_id is 'Id of the app in the store.';
comment on column report_apps.storefronts is 'Storefronts in which you track the app, as two-letter codes.';
comment on column report_apps.origin is 'own, or demo for sample data.';

-- The filter of a day reaches sql_day, and its months select the rows of rank_month.
create view report_ranks with (security_barrier) as
select a.app_id, a.app_name, a.platform, t.country as storefront, t.term as keyword, d.day, d.month,
  nullif(get_byte(r.ranks, d.place), 0) as rank,
  get_byte(m.depths, d.place) as depth,
  case get_byte(m.sources, d.place)
    when 10 then 'apple-web-search'
    when 20 then 'apple-store-search'
    when 30 then 'play-search'
    when 40 then 'import'
    when 50 then 'foreign'
  end as source,
  (
    select s.seen_at
    from search_results s
    where s.list_id = l.id and s.day = d.day and s.source = get_byte(m.sources, d.place) and s.complete
    order by s.origin <> 'own', s.depth desc, s.seen_at desc
    limit 1
  ) as measured_at
from sql_reader_app a
join tracked_term t on t.app_id = a.app_id
join list l on l.platform = a.platform and l.storefront = t.country and l.term = t.term
join rank_month r on r.app_id = a.store_app and r.list_id = l.id
join list_month m on m.list_id = r.list_id and m.month = r.month
join sql_day d on d.month = r.month
where get_byte(r.ranks, d.place) <> 255 and get_byte(m.sources, d.place) <> 255;

comment on view report_ranks is
  'Ranks of your tracked keywords by day. A day that was not measured has no row.';
comment on column report_ranks.app_id is 'Id of the app.';
comment on column report_ranks.app_name is 'Name of the app.';
comment on column report_ranks.platform is 'ios or android.';
comment on column report_ranks.storefront is 'Storefront as a two-letter code.';
comment on column report_ranks.keyword is 'Tracked keyword.';
comment on column report_ranks.day is 'UTC day of the reading.';
comment on column report_ranks.month is 'First day of its month. Filter by it as well to read years of data faster.';
comment on column report_ranks.rank is 'Rank in the search results. Null if measured and not found within depth.';
comment on column report_ranks.depth is 'How many places were read.';
comment on column report_ranks.source is
  'Source: apple-web-search, apple-store-search, play-search, import or foreign (another instance).';
comment on column report_ranks.measured_at is 'Time of the reading.';

create view report_reviews with (security_barrier) as
select a.app_id, a.app_name, a.platform,
  case a.platform when 'ios' then f.feed end as storefront,
  case a.platform when 'android' then f.feed end as language,
  v.review_id, v.at as posted_at, v.stars, v.title, v.text, v.version, v.source, v.first_seen_at, v.seen_at
from sql_reader_app a
cross join lateral (
  select distinct case a.platform when 'ios' then c.storefront else coalesce(l.language, 'en') end as feed
  from unnest(a.countries) c (storefront)
  left join play_review_language l on a.platform = 'android' and l.storefront = c.storefront
) f
join review_version v on v.app_id = a.store_app and v.feed = f.feed and v.current;

comment on view report_reviews is 'Reviews of your apps as the stores show them now. Authors are never stored.';
comment on column report_reviews.app_id is 'Id of the app.';
comment on column report_reviews.app_name is 'Name of the app.';
comment on column report_reviews.platform is 'ios or android.';
comment on column report_reviews.storefront is 'Storefront of the review. Null on Google Play (listed by language).';
comment on column report_reviews.language is 'Language of the list on Google Play. Null on the App Store.';
comment on column report_reviews.review_id is 'Id in the store.';
comment on column report_reviews.posted_at is 'Time when it was written or last edited. Filter by this column.';
comment on column report_reviews.stars is '1 to 5.';
comment on column report_reviews.title is 'Title. Null if it has none.';
comment on column report_reviews.text is 'Text. Empty for stars without words.';
comment on column report_reviews.version is 'Version of the app. Null if unknown.';
comment on column report_reviews.source is 'Source of the latest reading.';
comment on column report_reviews.first_seen_at is 'Time of the first reading with this text.';
comment on column report_reviews.seen_at is 'Time of the latest reading with this text.';

create view report_charts with (security_barrier) as
select a.app_id, a.app_name, a.platform, c.storefront, c.device, c.chart, c.genre, r.day,
  array_position(r.app_ids, a.store_app) as rank, r.depth,
  case r.source when 10 then 'apple-charts' when 40 then 'import' end as source,
  r.seen_at as measured_at
from sql_reader_app a
join chart c on c.platform = a.platform and c.storefront = any(a.countries)
  and (c.genre = '36' or c.genre = a.genre)
cross join lateral (
  select distinct on (x.day) x.day, x.source, x.depth, x.seen_at, x.app_ids
  from chart_results x
  where x.chart_id = c.id and x.complete
  order by x.day, x.source, x.origin <> 'own', x.depth desc, x.seen_at desc
) r;

comment on view report_charts is
  'Positions of your apps on the top charts of their storefronts, overall and in their category, by day.';
comment on column report_charts.app_id is 'Id of the app.';
comment on column report_charts.app_name is 'Name of the app.';
comment on column report_charts.platform is 'ios: charts of Google Play are not read.';
comment on column report_charts.storefront is 'Storefront as a two-letter code.';
comment on column report_charts.device is 'iphone or ipad.';
comment on column report_charts.chart is 'free, paid or grossing.';
comment on column report_charts.genre is 'Genre id of the App Store. 36 is the chart of all apps.';
comment on column report_charts.day is 'UTC day of the reading. A day that was not read has no row.';
comment on column report_charts.rank is 'Position. Null if the chart was read and the app was not within depth.';
comment on column report_charts.depth is 'How many places were read.';
comment on column report_charts.source is 'Source: apple-charts or import.';
comment on column report_charts.measured_at is 'Time of the reading.';

-- The account that reports money or ads of an app. If several do, the one is used that has a key and was connected
-- first, as in consoles/read/app-accounts.ts.
create view sql_reader_account with (security_barrier) as
select a.app_id, a.app_name, a.platform, k.report, o.id as account_id, o.outside_id, o.sku
from sql_reader_app a
join (
  values
    ('ios', 'app-store-connect', 'sales'),
    ('android', 'google-play-console', 'play_earnings'),
    ('ios', 'apple-ads', 'ads_days')
) k (platform, kind, report) on k.platform = a.platform
cross join lateral (
  select c.id, p.outside_id, p.sku
  from connected_account c
  join account_app p on p.account_id = c.id
  where c.workspace_id = a.workspace_id and c.kind = k.kind
    and (p.app_id = a.app_id or (p.app_id is null and not p.by_hand and p.outside_id = a.store_id))
  order by c.sealed is null, c.created_at, c.id
  limit 1
) o
where a.money;

create view report_revenue with (security_barrier) as
select a.app_id, a.app_name, a.platform, d.day, f.country as storefront, f.product, f.title, f.counts_as as kind,
  coalesce(f.units, 0) as units, coalesce(f.refunds, 0) as refunds, f.currency, coalesce(f.gross, 0) as gross,
  f.proceeds_currency, coalesce(f.proceeds, 0) as proceeds, d.source, d.seen_at as reported_at
from sql_reader_account a
cross join lateral (
  select r.day, max(r.seen_at) as seen_at, (array_agg(r.source order by r.seen_at desc))[1] as source
  from report_day r
  where r.account_id = a.account_id and r.report = a.report
  group by r.day
) d
left join sales_fact f on f.account_id = a.account_id and f.app = a.sku and f.day = d.day
where a.report <> 'ads_days';

comment on view report_revenue is
  'Sales of your apps from both consoles. Needs --money. A reported day without a sale has one row with 0 units.';
comment on column report_revenue.app_id is 'Id of the app.';
comment on column report_revenue.app_name is 'Name of the app.';
comment on column report_revenue.platform is 'ios (App Store Connect) or android (settled earnings of Google Play).';
comment on column report_revenue.day is 'Day of the report. A day that is not reported yet has no row.';
comment on column report_revenue.storefront is 'Storefront of the sale. Null on a day without a sale.';
comment on column report_revenue.product is 'Id of the product. Null on a day without a sale.';
comment on column report_revenue.title is 'Title of the product.';
comment on column report_revenue.kind is 'download, redownload, update, purchase, subscription or other.';
comment on column report_revenue.units is 'Units sold, refunds subtracted as the report does.';
comment on column report_revenue.refunds is 'Units given back, as a positive number.';
comment on column report_revenue.currency is 'Currency of gross. Never add amounts in different currencies.';
comment on column report_revenue.gross is 'What customers paid.';
comment on column report_revenue.proceeds_currency is 'Currency of proceeds.';
comment on column report_revenue.proceeds is 'Your share: estimated by App Store Connect, settled by Google Play.';
comment on column report_revenue.source is 'Source of the report.';
comment on column report_revenue.reported_at is 'Time when the report of the day was last read.';

-- The campaigns of the reader's apps, with the days that Apple Ads has reported.
create view sql_reader_ads_day with (security_barrier) as
select a.app_id, a.app_name, a.account_id, c.campaign, c.name, r.day, r.seen_at, r.source
from sql_reader_account a
join ads_campaign c on c.account_id = a.account_id and c.app = a.outside_id
cross join lateral (
  select x.day, max(x.seen_at) as seen_at, (array_agg(x.source order by x.seen_at desc))[1] as source
  from ads_report x
  where x.account_id = a.account_id and x.report = 'ads_days' and x.about = c.campaign
  group by x.day
) r
where a.report = 'ads_days';

create view report_ads with (security_barrier) as
select d.app_id, d.app_name, d.campaign as campaign_id, d.name as campaign, d.day, f.country as storefront,
  case when f.day is null then 0 else f.impressions end as impressions,
  case when f.day is null then 0 else f.taps end as taps,
  case when f.day is null then 0 else f.installs end as installs,
  case when f.day is null then 0 else f.new_downloads end as new_downloads,
  case when f.day is null then 0 else f.spend end as spend,
  f.currency, d.source, d.seen_at as reported_at
from sql_reader_ads_day d
left join ads_day_fact f on f.account_id = d.account_id and f.campaign = d.campaign and f.day = d.day
  and f.keyword is null;

comment on view report_ads is
  'Apple Ads campaigns of your apps by day and storefront. Needs --money. A day without impressions has a row with 0.';
comment on column report_ads.app_id is 'Id of the app.';
comment on column report_ads.app_name is 'Name of the app.';
comment on column report_ads.campaign_id is 'Id of the campaign.';
comment on column report_ads.campaign is 'Name of the campaign.';
comment on column report_ads.day is 'Day in the time zone of the account. A day that is not reported yet has no row.';
comment on column report_ads.storefront is 'Storefront. Null on a day without impressions.';
comment on column report_ads.impressions is 'Impressions. Null if Apple does not say.';
comment on column report_ads.taps is 'Taps. Null if Apple does not say.';
comment on column report_ads.installs is 'Installs after a tap or a view. Null if Apple does not say.';
comment on column report_ads.new_downloads is 'Installs of people who never had the app. Null if Apple does not say.';
comment on column report_ads.spend is 'Cost. Null if Apple does not say.';
comment on column report_ads.currency is 'Currency of spend. Never add amounts in different currencies.';
comment on column report_ads.source is 'Source of the report.';
comment on column report_ads.reported_at is 'Time when the report of the day was last read.';

create view report_ad_keywords with (security_barrier) as
select d.app_id, d.app_name, d.campaign as campaign_id, d.name as campaign, d.day, f.country as storefront,
  f.keyword as keyword_id, k.text as keyword, k.match, f.impressions, f.taps, f.installs, f.new_downloads, f.spend,
  f.currency, d.source, d.seen_at as reported_at
from sql_reader_ads_day d
join ads_day_fact f on f.account_id = d.account_id and f.campaign = d.campaign and f.day = d.day
  and f.keyword is not null
left join ads_thing k on k.account_id = d.account_id and k.campaign = d.campaign and k.thing = 'keyword'
  and k.id = f.keyword;

comment on view report_ad_keywords is
  'Keywords of Apple Ads campaigns by day. Needs --money. They are part of report_ads: never add the two views.';
comment on column report_ad_keywords.app_id is 'Id of the app.';
comment on column report_ad_keywords.app_name is 'Name of the app.';
comment on column report_ad_keywords.campaign_id is 'Id of the campaign.';
comment on column report_ad_keywords.campaign is 'Name of the campaign.';
comment on column report_ad_keywords.day is 'Day in the time zone of the account.';
comment on column report_ad_keywords.storefront is 'Storefront as a two-letter code.';
comment on column report_ad_keywords.keyword_id is 'Id of the keyword in Apple Ads.';
comment on column report_ad_keywords.keyword is 'Text of the keyword. Null if it is no longer in the campaign.';
comment on column report_ad_keywords.match is 'EXACT or BROAD. Null if unknown.';
comment on column report_ad_keywords.impressions is 'Impressions. Null if Apple does not say.';
comment on column report_ad_keywords.taps is 'Taps. Null if Apple does not say.';
comment on column report_ad_keywords.installs is 'Installs after a tap or a view. Null if Apple does not say.';
comment on column report_ad_keywords.new_downloads is 'Installs of people who never had the app. Null if unknown.';
comment on column report_ad_keywords.spend is 'Cost. Null if Apple does not say.';
comment on column report_ad_keywords.currency is 'Currency of spend.';
comment on column report_ad_keywords.source is 'Source of the report.';
comment on column report_ad_keywords.reported_at is 'Time when the report of the day was last read.';
