-- What stands now of reviews, stored as it is asked: figures of 90 days read every review of them, and whether a feed was read
-- completely was found out from a thousand at each call. Both are derived from review_version and review_read, and written in the
-- transaction that writes those.

-- Reviews as they stand, by the UTC day on which they were written or last edited; a day without any has no row.
create table review_day (
  app_id int not null references store_app,
  feed text not null,
  day date not null,
  reviews int not null check (reviews > 0),
  -- when the oldest of them was written, by moment and then id, and when it was seen first
  oldest_at timestamptz not null,
  oldest_first_seen_at timestamptz not null,
  -- when any of them was seen first, and when any was seen last
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  -- Of those that were seen first after all older ones of the day had been seen last: when the latest was. Unless an older
  -- day's review was seen since, no reading showed both sides of a gap within the day. Null = there are none.
  gap_seen_at timestamptz,
  -- So many of a version of the app (null = not said) and a number of stars: three lists side by side.
  versions text[] not null,
  stars smallint[] not null,
  counts int[] not null,
  check (cardinality(versions) = cardinality(counts) and cardinality(stars) = cardinality(counts)),
  primary key (app_id, feed, day)
) with (fillfactor = 70);

-- How far a feed was read, by whichever source; without a row nothing is known of it.
create table review_feed (
  app_id int not null references store_app,
  feed text not null,
  -- when it was read last; null = reviews came with no word of how far they were read
  read_at timestamptz,
  -- of that reading: it left nothing out, and what is held bears that out
  complete boolean not null,
  -- of that reading: the store said that there are no reviews
  empty boolean not null,
  -- when a reading said last that it was complete
  complete_at timestamptz,
  check (read_at is not null or not (complete or empty or complete_at is not null)),
  primary key (app_id, feed)
) with (fillfactor = 70);

with review as materialized (
  select app_id, feed, review_id, (at at time zone 'utc')::date as day, at, stars, version, first_seen_at, seen_at
  from review_version
  where current
), beside as (
  select app_id, feed, day, at, first_seen_at, seen_at, max(seen_at) over (
      partition by app_id, feed, day
      order by at, review_id collate "C"
      rows between unbounded preceding and 1 preceding
    ) as older_seen_at
  from review
), figure as (
  select app_id, feed, day, count(*) as reviews, min(at) as oldest_at,
    min(first_seen_at) filter (where older_seen_at is null) as oldest_first_seen_at, min(first_seen_at) as first_seen_at,
    max(seen_at) as seen_at, max(first_seen_at) filter (where older_seen_at < first_seen_at) as gap_seen_at
  from beside
  group by app_id, feed, day
), tally as (
  select app_id, feed, day, array_agg(version order by version collate "C" nulls last, stars) as versions,
    array_agg(stars order by version collate "C" nulls last, stars) as stars,
    array_agg(count order by version collate "C" nulls last, stars) as counts
  from (
    select app_id, feed, day, version, stars, count(*)::int as count
    from review
    group by app_id, feed, day, version, stars
  ) t
  group by app_id, feed, day
)
insert into review_day (
  app_id, feed, day, reviews, oldest_at, oldest_first_seen_at, first_seen_at, seen_at, gap_seen_at, versions, stars, counts
)
select app_id, feed, day, reviews, oldest_at, oldest_first_seen_at, first_seen_at, seen_at, gap_seen_at, versions, stars, counts
from figure
join tally using (app_id, feed, day)
order by app_id, feed, day;

insert into review_feed (app_id, feed, read_at, complete, empty, complete_at)
select f.app_id, f.feed, r.seen_at, coalesce(r.complete and r.joined, false), coalesce(r.empty, false), (
    select max(seen_at)
    from review_read
    where app_id = f.app_id and feed = f.feed and complete
  )
from (
  select app_id, feed
  from review_read
  union
  select app_id, feed
  from review_day
) f
left join lateral (
  select r.seen_at, r.complete, r.empty, r.empty or (
      select count(*) = 0 or bool_or(v.seen_at > r.seen_at - interval '1 hour')
      from (
        select first_seen_at, seen_at
        from review_version
        where app_id = r.app_id and feed = r.feed and current
        order by at desc, review_id collate "C"
        limit 1000
      ) v
      where v.first_seen_at < r.seen_at - interval '1 hour'
    ) as joined
  from review_read r
  where r.app_id = f.app_id and r.feed = f.feed
  order by r.seen_at desc, r.complete desc, r.source
  limit 1
) r on true
order by f.app_id, f.feed;
