-- Reviews and ratings as the stores show them. The author of a review is never stored.

-- Every form in which a review was shown: an edited review keeps its earlier forms.
create table review_version (
  app_id int not null references store_app,
  -- The list that has the review: a storefront on the App Store (us), a language on Google Play (en, pt-BR).
  feed text not null,
  -- The store's id.
  review_id text not null,
  -- A hash of stars, title, text and date.
  digest bytea not null check (length(digest) = 16),
  -- Whether this is the latest form. Each review has exactly one latest form.
  current boolean not null,
  stars smallint not null check (stars between 1 and 5),
  -- Null if it has none.
  title text,
  -- '' for a rating without words.
  text text not null,
  -- Title and text as the search of reviews compares them. Null: a search or the next reading fills it.
  folded text,
  -- The app's version. Null if unknown.
  version text,
  -- When the review was written or last edited, as the store says.
  at timestamptz not null,
  first_seen_at timestamptz not null,
  -- The latest reading with this form.
  seen_at timestamptz not null,
  source text not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, feed, review_id, digest)
);
-- review_id comes first so that a table without statistics is not read by this index instead of by one with the time.
create unique index review_current on review_version (review_id, app_id, feed) where current;
create index review_newest on review_version (app_id, feed, at desc, review_id) where current;
create index review_stars on review_version (app_id, feed, stars, at desc, review_id) where current;
create index review_app_version on review_version (app_id, feed, version, at desc, review_id) where current;

-- The current form of each review.
create view review as
select app_id, feed, review_id, stars, title, text, version, at, first_seen_at, seen_at, source, parser, origin, sha256
from review_version
where current;

-- The latest complete and the latest incomplete reading of a feed. No row: the feed was never read.
create table review_read (
  app_id int not null references store_app,
  feed text not null,
  source text not null,
  complete boolean not null,
  -- When the last page was read.
  seen_at timestamptz not null,
  pages smallint not null check (pages > 0),
  -- Whether the store itself reported that there are no reviews.
  empty boolean not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, feed, source, complete),
  constraint review_read_empty_check check (complete or not empty)
);

-- Derived from review_version: the current reviews by the UTC day on which they were written or last edited. A day
-- without reviews has no row.
create table review_day (
  app_id int not null references store_app,
  feed text not null,
  day date not null,
  reviews int not null check (reviews > 0),
  -- When the oldest review was written (of equal times the one with the lowest id), and when it was first seen.
  oldest_at timestamptz not null,
  oldest_first_seen_at timestamptz not null,
  -- When any of the day's reviews was first seen, and when any of them was last seen.
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  -- The latest first_seen_at of the reviews that were first seen after all older ones of the day were last seen. Null
  -- if there are none. Unless a review of an older day was seen since, no reading showed both sides of a gap within the
  -- day.
  gap_seen_at timestamptz,
  -- Three parallel arrays: the app's version (null if unknown), the stars, and in `counts` the number of reviews with
  -- both.
  versions text[] not null,
  stars smallint[] not null,
  counts int[] not null,
  primary key (app_id, feed, day),
  constraint review_day_counts_check check (
    cardinality(versions) = cardinality(counts) and cardinality(stars) = cardinality(counts)
  )
) with (fillfactor = 70);

-- Derived from review_read: how far a feed was read, by any source. No row: unknown.
create table review_feed (
  app_id int not null references store_app,
  feed text not null,
  -- The latest reading. Null if reviews arrived without saying how far the feed was read.
  read_at timestamptz,
  -- Whether that reading was complete, and the stored reviews confirm this.
  complete boolean not null,
  -- Whether the store reported in that reading that there are no reviews.
  empty boolean not null,
  -- The latest reading that was complete.
  complete_at timestamptz,
  primary key (app_id, feed),
  constraint review_feed_read_at_check check (
    read_at is not null or not (complete or empty or complete_at is not null)
  )
) with (fillfactor = 70);

-- The ratings of an app on a day. An older count without stars moves to rating_quarter: a day is in one of the two
-- tables.
create table rating_count (
  app_id int not null references store_app,
  storefront text not null,
  day date not null,
  source text not null,
  seen_at timestamptz not null,
  origin text not null,
  ratings bigint,
  rating real,
  -- The parser and the body of a look-up. Null for a count in search results: they are in the row of the reading.
  parser smallint,
  sha256 bytea,
  -- Numbers of ratings with five, four, three, two and one stars. Null if not shown.
  stars bigint[] check (cardinality(stars) = 5),
  primary key (app_id, storefront, day, source)
);

-- Older rating counts, packed: a row of rating_count takes 200 bytes, which is 7.4 GB per year for 100,000 apps in a
-- storefront. Count, mean, source, origin and time are kept. Of two readings of a day the later reading counts, even if
-- it is recorded late.
create table rating_quarter (
  app_id int not null references store_app,
  storefront text not null,
  -- The first day of the quarter.
  quarter date not null check (quarter = date_trunc('quarter', quarter::timestamp)::date),
  source text not null,
  origin text not null,
  -- The count without its last 20 bits. -1: only the mean was shown. An app that passes a million has two rows in that
  -- quarter.
  millions int not null check (millions >= -1),
  -- One number per day from the first. Null: not measured. From the top: 20 bits of the count, 16 bits of the mean in
  -- ten thousandths plus one (0: not shown), 27 bits of the millisecond of the day at which it was seen.
  days bigint[] not null check (cardinality(days) between 1 and 92),
  primary key (app_id, storefront, quarter, source, origin, millions)
);

-- Every count of every day from both tables. To read a span, compare `quarter` and `until` (the last day that is packed
-- together) as well, so that other rows are not unpacked.
create view rating_day as
select app_id, storefront, date_trunc('quarter', day::timestamp)::date as quarter, day as until, day, source, seen_at,
  origin, ratings, rating, parser, sha256
from rating_count
union all
select q.app_id, q.storefront, q.quarter, q.quarter + cardinality(q.days) - 1, q.quarter + d.at::int - 1, q.source,
  (q.quarter + d.at::int - 1)::timestamp at time zone 'utc' + (d.packed & 134217727) * interval '1 millisecond',
  q.origin, case when q.millions >= 0 then (q.millions::bigint << 20) + (d.packed >> 43) end,
  ((nullif(d.packed >> 27 & 65535, 0) - 1) / 10000.0)::real, null::smallint, null::bytea
from rating_quarter q
cross join lateral unnest(q.days) with ordinality d (packed, at)
where d.packed is not null;
