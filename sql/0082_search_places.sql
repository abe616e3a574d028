-- What stands where in every reading of a list in these days, both inclusive, in the form in which it is held: of a whole reading
-- `app_ids`, of a packed one `apps` and `places`. For who needs the place of one app, or puts them together himself: that takes
-- longer here, an app at a time, than reading them.
create function search_places(of_list int, since date, up_to date)
returns table (
  day date, source smallint, seen_at timestamptz, depth smallint, complete boolean, origin text, app_ids int[], apps int[],
  places bytea
)
language sql stable as $$
  select s.day, s.source, s.seen_at, s.depth, s.complete, s.origin, s.app_ids, null::int[], null::bytea
  from search_results s
  where s.list_id = of_list and s.day between since and up_to
  union all
  select (r.seen_at at time zone 'utc')::date, f.source, r.seen_at, get_byte(f.depths, r.n::int - 1)::smallint, f.complete,
    f.origin, null::int[], f.apps,
    substr(f.places, coalesce(f.ends[r.n - 1], 0) + 1, r.last - coalesce(f.ends[r.n - 1], 0))
  from search_fortnight f
  cross join unnest(f.seen_ats, f.ends) with ordinality r (seen_at, last, n)
  where f.list_id = of_list and f.fortnight between since - 13 and up_to
    and (r.seen_at at time zone 'utc')::date between since and up_to
$$;

-- An app's place in such a reading, counted from 1; null = it is not there.
create function place_in(app int, app_ids int[], apps int[], places bytea) returns int language sql immutable as $$
  select case
    when places is null then array_position(app_ids, app)
    else nullif(position(set_byte('\x00', 0, array_position(apps, app) - 1) in places), 0)
  end
$$;
