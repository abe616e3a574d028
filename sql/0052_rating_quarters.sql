-- A day's rating count with all that is known of its reading takes 200 bytes; a year of 100,000 apps in a storefront 7.4 GB. So a
-- count is a row of rating_count while it is young, or the latest, or with stars, and else a number in a row of its quarter: a day
-- stands in one of the two, and moves as months pass (observations/rows/rating-quarters.ts). Its count, its mean, its source,
-- its origin and its time go along, since the later of two readings of a day is held, however late it comes.

create table rating_quarter (
  app_id int not null references store_app,
  storefront text not null,
  -- its first day
  quarter date not null check (quarter = date_trunc('quarter', quarter::timestamp)::date),
  source text not null,
  origin text not null check (origin <> 'demo'),
  -- A count without its last 20 bits; -1 = only the mean was shown. An app that passes a million has a row more in that quarter.
  millions int not null check (millions >= -1),
  -- By day from the first; null = not measured. From the top: 20 bits of the count, 16 of the mean in ten thousandths and one
  -- more (0 = not shown), 27 of the millisecond of the day at which it was seen.
  days bigint[] not null check (cardinality(days) between 1 and 92),
  primary key (app_id, storefront, quarter, source, origin, millions)
);

-- Every count of every day, whichever table holds it. Who reads a span says of which quarters, and that the last day of what is
-- kept together (`until`) is not before it: other rows are not unpacked then.
create view rating_day as
select app_id, storefront, date_trunc('quarter', day::timestamp)::date as quarter, day as until, day, source, seen_at, origin,
  ratings, rating, parser, sha256
from rating_count
union all
select q.app_id, q.storefront, q.quarter, q.quarter + cardinality(q.days) - 1, q.quarter + d.at::int - 1, q.source,
  (q.quarter + d.at::int - 1)::timestamp at time zone 'utc' + (d.packed & 134217727) * interval '1 millisecond', q.origin,
  case when q.millions >= 0 then (q.millions::bigint << 20) + (d.packed >> 43) end,
  ((nullif(d.packed >> 27 & 65535, 0) - 1) / 10000.0)::real, null::smallint, null::bytea
from rating_quarter q
cross join lateral unnest(q.days) with ordinality d (packed, at)
where d.packed is not null;
