-- A unit whose every call ended with the process that ran it is nobody's: it comes back.

-- Whether a call that relied on it was answered. Of those before nothing is known: they stay.
alter table allowance_unit add column answered bool not null default true;
alter table allowance_unit alter column answered set default false;

-- A call takes less than ten minutes.
create function settle_allowance(w int, what text) returns void
language sql as $$
  with gone as (
    delete from allowance_unit
    where workspace_id = w and allowance = what and not answered and opened_at < now() - interval '10 minutes'
    returning month
  )
  update allowance_month m
  set used = m.used - g.units
  from (select month, count(*)::int as units from gone group by month) g
  where m.workspace_id = w and m.allowance = what and m.month = g.month;
$$;

-- As before, but that what nobody relies on any more comes back first.
create or replace function take_allowance(w int, what text, most bigint, about text, days int, request text)
returns table (granted boolean, taken boolean, used int, month date, open_until timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  held allowance_unit%rowtype;
begin
  -- not a row of the month: around its turn two calls would lock two
  perform pg_advisory_xact_lock(hashtextextended('allowance ' || w || ' ' || what, 0));
  perform settle_allowance(w, what);
  take_allowance.month := case
    when what = 'listingWritesEver' then date '0001-01-01'
    else date_trunc('month', now() at time zone 'utc')::date
  end;
  select m.used into take_allowance.used
  from allowance_month m
  where m.workspace_id = w and m.allowance = what and m.month = take_allowance.month;
  used := coalesce(used, 0);

  select * into held from allowance_unit u where u.workspace_id = w and u.allowance = what and u.subject = about;
  if held.open_until > now() then
    if held.requests is not null and not request = any(held.requests) then
      update allowance_unit u
      set requests = case
        when held.opened_at < now() - interval '10 minutes' or cardinality(held.requests) >= 500 then null
        else held.requests || request
      end
      where u.workspace_id = w and u.allowance = what and u.subject = about;
    end if;
    return query select true, false, used, take_allowance.month, held.open_until;
    return;
  end if;
  if used >= most then
    return query select false, false, used, take_allowance.month, null::timestamptz;
    return;
  end if;

  used := used + 1;
  take_allowance.open_until := now() + days * interval '1 day';
  insert into allowance_month as m (workspace_id, allowance, month, used)
  values (w, what, take_allowance.month, 1)
  on conflict (workspace_id, allowance, month) do update set used = m.used + 1;
  insert into allowance_unit as u (workspace_id, allowance, subject, month, open_until, requests)
  values (w, what, about, take_allowance.month, take_allowance.open_until, array[request])
  on conflict (workspace_id, allowance, subject) do update
  set month = excluded.month, opened_at = excluded.opened_at, open_until = excluded.open_until,
    requests = excluded.requests, answered = false;
  return query select true, true, used, take_allowance.month, take_allowance.open_until;
end $$;
