-- Allowances of a month, of a day and of all time are counted in one table and taken by one function. Until now each
-- daily one had a table and a way of counting of its own.

alter table allowance_month rename to allowance_used;
alter table allowance_used rename column month to period;
alter table allowance_used rename constraint allowance_month_pkey to allowance_used_pkey;
alter table allowance_used rename constraint allowance_month_used_check to allowance_used_used_check;
alter table allowance_used rename constraint allowance_month_workspace_id_fkey to allowance_used_workspace_id_fkey;
alter table allowance_used drop constraint allowance_month_allowance_check;
alter table allowance_used add constraint allowance_used_allowance_check check (allowance in (
  'discovery', 'aiQuestions', 'reviewAi', 'aiWriting', 'aiVisibility', 'spy', 'listingWrites', 'listingWritesEver',
  'hive', 'measurements'
));
alter table allowance_used set (fillfactor = 50);
-- daily counts are deleted when they are old, monthly ones are not
create index allowance_used_daily on allowance_used (period, workspace_id) where allowance in ('hive', 'measurements');
alter table allowance_unit rename column month to period;

insert into allowance_used (workspace_id, allowance, period, used)
select workspace_id, 'hive', day, used
from hive_day
where used > 0
union all
select workspace_id, 'measurements', day, cardinality(requests)
from measure_day
where cardinality(requests) > 0;

drop function take_hive_days(int[], int[], int[], boolean);
drop function take_allowance(int, text, bigint, text, int, text);
drop function give_back_allowance(int, text, text, text);
drop function return_allowance(int, text, text);
drop function settle_allowance(int, text);
drop table hive_day;
drop table measure_day;

-- allowance_period: the first day of the current period of an allowance, and when it is renewed; null if it never is.
create function allowance_period(what text) returns table (period date, resets_at timestamptz)
language sql stable as $$
  select case when what = 'listingWritesEver' then date '0001-01-01' else p.began::date end,
    case when what <> 'listingWritesEver' then (p.began + ('1 ' || u.length)::interval) at time zone 'utc' end
  from (select case when what in ('hive', 'measurements') then 'day' else 'month' end as length) u
  cross join lateral (select date_trunc(u.length, now() at time zone 'utc') as began) p
$$;

-- settle_allowance: gives back the units of calls that ended with their process. A call takes less than ten minutes.
create function settle_allowance(w int, what text) returns void
language sql as $$
  with abandoned as (
    delete from allowance_unit
    where workspace_id = w and allowance = what and not answered and opened_at < now() - interval '10 minutes'
    returning period
  )
  update allowance_used u
  set used = u.used - a.units
  from (select period, count(*)::int as units from abandoned group by period) a
  where u.workspace_id = w and u.allowance = what and u.period = a.period
$$;

-- take_allowance: takes units, each only while fewer than `most` are used in the current period. `wanted` is
-- [{workspace_id, allowance, most, count, subject, days, request_id}]. A unit with a subject can be given back. It opens
-- its subject for some days, and an open subject is granted without another unit. Returns a row per decided entry: its
-- place (1 is the first), how many units are granted and how many are used after it. With `waits` it waits for the lock
-- of each allowance; without, it leaves out locked ones, so that no workspace waits for another's lock.
create function take_allowance(wanted jsonb, waits boolean)
returns table (place int, granted int, used int, resets_at timestamptz, open_until timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  owners text[] := array(
    select distinct workspace_id || ' ' || allowance
    from jsonb_to_recordset(wanted) r (workspace_id int, allowance text)
    order by 1
  );
  held text[];
  want record;
  unit allowance_unit;
begin
  -- no row lock: at the turn of a period two calls would lock two rows
  if waits then
    perform pg_advisory_xact_lock(hashtextextended('allowance ' || o, 0)) from unnest(owners) o;
  end if;
  held := array(
    select o from unnest(owners) o where pg_try_advisory_xact_lock(hashtextextended('allowance ' || o, 0))
  );
  for want in
    select r.*, p.period, p.resets_at
    from rows from (
      jsonb_to_recordset(wanted) as (
        workspace_id int, allowance text, most bigint, count int, subject text, days int, request_id text
      )
    ) with ordinality r (workspace_id, allowance, most, count, subject, days, request_id, place)
    cross join lateral allowance_period(r.allowance) p
    where r.workspace_id || ' ' || r.allowance = any(held)
    order by r.workspace_id, r.allowance, r.place
  loop
    place := want.place;
    resets_at := want.resets_at;
    open_until := null;
    unit := null;
    if want.subject is not null then
      perform settle_allowance(want.workspace_id, want.allowance);
      select * into unit
      from allowance_unit u
      where u.workspace_id = want.workspace_id and u.allowance = want.allowance and u.subject = want.subject;
    end if;
    used := coalesce((
      select u.used
      from allowance_used u
      where u.workspace_id = want.workspace_id and u.allowance = want.allowance and u.period = want.period
    ), 0);

    if unit.open_until > now() then
      granted := want.count;
      open_until := unit.open_until;
      -- `requests` lists who may still give the unit back. Null: it stays.
      if not want.request_id = any(unit.requests) then
        update allowance_unit u
        set requests = case
          when unit.opened_at >= now() - interval '10 minutes' and cardinality(unit.requests) < 500
            then unit.requests || want.request_id
        end
        where u.workspace_id = want.workspace_id and u.allowance = want.allowance and u.subject = want.subject;
      end if;
      return next;
      continue;
    end if;

    granted := greatest(0, least(want.count, want.most - used));
    used := used + granted;
    if granted > 0 then
      insert into allowance_used (workspace_id, allowance, period, used)
      values (want.workspace_id, want.allowance, want.period, used)
      on conflict (workspace_id, allowance, period) do update
      set used = excluded.used;
    end if;
    if granted > 0 and want.subject is not null then
      open_until := now() + want.days * interval '1 day';
      insert into allowance_unit (workspace_id, allowance, subject, period, open_until, requests)
      values (want.workspace_id, want.allowance, want.subject, want.period, open_until, array[want.request_id])
      on conflict (workspace_id, allowance, subject) do update
      set period = excluded.period, opened_at = excluded.opened_at, open_until = excluded.open_until,
        requests = excluded.requests, answered = false;
    end if;
    return next;
  end loop;
end $$;

-- give_back_allowance: a failed request no longer relies on a unit; with the last such request the unit is given back,
-- once. Without a request it is given back whoever relies on it. False if there is no such unit or others rely on it.
create function give_back_allowance(w int, what text, about text, request text) returns boolean
language plpgsql as $$
declare
  counted date;
begin
  perform pg_advisory_xact_lock(hashtextextended('allowance ' || w || ' ' || what, 0));
  update allowance_unit
  set requests = array_remove(requests, request)
  where workspace_id = w and allowance = what and subject = about and request = any(requests);
  delete from allowance_unit
  where workspace_id = w and allowance = what and subject = about and (request is null or cardinality(requests) = 0)
  returning period into counted;
  if counted is null then return false; end if;
  update allowance_used
  set used = used - 1
  where workspace_id = w and allowance = what and period = counted;
  return true;
end $$;
