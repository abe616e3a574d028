-- Hive calls that arrive together are counted in one statement with one commit, as charges are.

-- take_hive_days: of each workspace so many calls are wanted today (UTC), and so many it may make in all: gives how many of them
-- it may (taken), how many were made before, and when the next day begins. Rows are locked first, in the order of their ids.
-- With `waits` it waits for them; without it, workspaces whose row somebody else holds are left out.
create function take_hive_days(ws int[], wanted int[], per_day int[], waits boolean)
returns table (workspace_id int, taken int, before int, resets_on date)
language plpgsql as $$
#variable_conflict use_column
declare
  today date := (now() at time zone 'utc')::date;
  held int[];
begin
  insert into hive_day (workspace_id, day, used)
  select a.w, today, 0
  from unnest(ws, per_day) a (w, most)
  where a.most > 0 and not exists (select from hive_day h where h.workspace_id = a.w and h.day = today)
  order by a.w
  on conflict do nothing;
  if waits then
    held := array(select workspace_id from hive_day where workspace_id = any(ws) and day = today order by workspace_id for update);
  else
    held := array(
      select workspace_id from hive_day where workspace_id = any(ws) and day = today order by workspace_id for update skip locked
    );
  end if;
  -- a statement of its own: it sees what was committed while a lock was waited for
  return query
  with asked as materialized (
    select a.w, coalesce(h.used, 0) as used, greatest(0, least(a.n, a.most - coalesce(h.used, 0))) as taken
    from unnest(ws, wanted, per_day) a (w, n, most)
    left join hive_day h on (h.workspace_id, h.day) = (a.w, today)
    where a.most = 0 or a.w = any(held)
  ), counted as (
    update hive_day h
    set used = h.used + a.taken
    from asked a
    where (h.workspace_id, h.day) = (a.w, today) and a.taken > 0
  )
  select a.w, a.taken, a.used, today + 1
  from asked a;
end $$;
