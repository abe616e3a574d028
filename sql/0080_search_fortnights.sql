-- A reading of search results takes 1,094 bytes where it is 200 deep, four a place and the rest for what is known of it, though
-- a list shows nearly the same apps from day to day. So readings that are some days old move into the row of their fortnight
-- (observations/rows/search-fortnights.ts): an app's number stands once in it and a place takes a byte, and what all its readings
-- have in common is said once. Nothing is lost: a reading stands in one of the two tables, whole.

-- Fortnights are counted from a day long before all readings.
create function fortnight_of(day date) returns date language sql immutable as $$
  select day - (day - '1970-01-01'::date) % 14
$$;

create table search_fortnight (
  list_id int not null references list,
  -- its first day
  fortnight date not null check (fortnight = fortnight_of(fortnight)),
  -- readings that differ in one of the next five stand in other parts, and so do those that would need more than 256 apps
  part smallint not null,
  source smallint not null,
  complete boolean not null,
  parser smallint not null,
  origin text not null check (origin <> 'demo'),
  egress text,
  -- of each reading, in the order of time; `ends` says how many places there are up to its last
  seen_ats timestamptz[] not null,
  depths bytea not null,
  ends smallint[] not null,
  sha256s bytea not null,
  -- every app of these readings, and of reading after reading for each place which of them stands there, counted from 0
  apps int[] not null,
  places bytea not null,
  primary key (list_id, fortnight, part),
  check (
    cardinality(seen_ats) > 0 and length(depths) = cardinality(seen_ats) and cardinality(ends) = cardinality(seen_ats)
    and length(sha256s) = 32 * cardinality(seen_ats) and length(places) = ends[cardinality(ends)] and cardinality(apps) <= 256
  )
);

-- An app is looked up for each place: not to be unpacked for each. The bytes of places and sums do not get smaller.
alter table search_fortnight alter apps set storage plain;
alter table search_fortnight alter places set storage external;
alter table search_fortnight alter sha256s set storage external;

-- The packed readings of a list in these days, both inclusive, as they stood in search_results.
create function packed_searches(of_list int, since date, up_to date)
returns table (
  list_id int, day date, source smallint, seen_at timestamptz, depth smallint, complete boolean, parser smallint, origin text,
  egress text, sha256 bytea, app_ids int[]
)
language sql stable as $$
  select f.list_id, (r.seen_at at time zone 'utc')::date, f.source, r.seen_at, get_byte(f.depths, r.n::int - 1)::smallint, f.complete, f.parser, f.origin, f.egress,
    substr(f.sha256s, 32 * (r.n::int - 1) + 1, 32),
    array(
      select f.apps[get_byte(b.places, b.at) + 1]
      from (
        select p.places, generate_series(0, length(p.places) - 1) as at
        from (
          select substr(f.places, coalesce(f.ends[r.n - 1], 0) + 1, r.last - coalesce(f.ends[r.n - 1], 0)) as places
          -- fenced: else it is cut out anew for each place
          offset 0
        ) p
      ) b
    )
  from search_fortnight f
  cross join unnest(f.seen_ats, f.ends) with ordinality r (seen_at, last, n)
  where f.list_id = of_list and f.fortnight between since - 13 and up_to
    and (r.seen_at at time zone 'utc')::date between since and up_to
$$;

-- Every reading of a list in these days, both inclusive, in whichever form it is held.
create function search_readings(of_list int, since date, up_to date)
returns table (
  list_id int, day date, source smallint, seen_at timestamptz, depth smallint, complete boolean, parser smallint, origin text,
  egress text, sha256 bytea, app_ids int[]
)
language sql stable as $$
  select s.list_id, s.day, s.source, s.seen_at, s.depth, s.complete, s.parser, s.origin, s.egress, s.sha256, s.app_ids
  from search_results s
  where s.list_id = of_list and s.day between since and up_to
  union all
  select p.list_id, p.day, p.source, p.seen_at, p.depth, p.complete, p.parser, p.origin, p.egress, p.sha256, p.app_ids
  from packed_searches(of_list, since, up_to) p
$$;

-- The last day up to that one on which a list was read to the end; null = there is none.
-- A table, for a planner makes it a part of the statement.
create function last_search_day(of_list int, up_to date, with_demo boolean) returns table (day date) language sql stable as $$
  select greatest(
    (
      select s.day
      from search_results s
      where s.list_id = of_list and s.day <= up_to and s.complete and (with_demo or s.origin <> 'demo')
      order by s.day desc
      limit 1
    ),
    (
      select (seen_at at time zone 'utc')::date
      from search_fortnight f
      cross join unnest(f.seen_ats) seen_at
      where f.list_id = of_list and f.fortnight <= up_to and f.complete and (seen_at at time zone 'utc')::date <= up_to
      order by f.fortnight desc, seen_at desc
      limit 1
    )
  )
$$;
