-- Search results have one form: a row of search_results per reading. The rows that are packed by fortnight move back and their
-- table and functions go: a packed year took several times as long to read.
select open_month(month)
from (
  select distinct date_trunc('month', seen_at at time zone 'utc')::date as month
  from search_fortnight
  cross join unnest(seen_ats) seen_at
  order by 1
) m;

insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
select r.list_id, r.day, r.source, r.seen_at, r.depth, r.complete, r.parser, r.origin, r.egress, r.sha256, r.app_ids
from (select distinct list_id from search_fortnight) l
cross join lateral packed_searches(l.list_id, '-infinity', 'infinity') r
order by r.list_id, r.day, r.source, r.seen_at
on conflict do nothing;

drop function last_search_day, next_search_day, place_in, search_places, search_readings, packed_searches;
drop table search_fortnight;
drop function fortnight_of;
