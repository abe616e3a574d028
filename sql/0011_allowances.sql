-- What a plan gives of other things than credits each month, and what a unit of it opened.

-- Units used; there is a row for each month in which any was.
create table allowance_month (
  workspace_id int not null references workspace,
  -- an entitlement's name (src/access/plans.ts)
  allowance text not null check (allowance in (
    'discovery', 'aiQuestions', 'reviewAi', 'aiWriting', 'aiVisibility', 'spy'
  )),
  month date not null,
  used int not null check (used >= 0),
  primary key (workspace_id, allowance, month)
);

-- What a unit was used for, the latest time: nothing is taken for the same again while it is open.
create table allowance_unit (
  workspace_id int not null references workspace,
  allowance text not null,
  subject text not null,
  -- that it counts in
  month date not null,
  opened_at timestamptz not null default now(),
  open_until timestamptz not null check (open_until >= opened_at),
  -- the request that took it and may still give it back; null = others have relied on it since
  request_id text,
  primary key (workspace_id, allowance, subject)
);

-- take_allowance: opens a subject for so many days with a unit of this month, if fewer than `most` are used; nothing is
-- taken for what is open. Exact under concurrency. `granted`: it is open now; `taken`: by a unit of this very call. Who finds
-- it open by another request's unit relies on it, so that one cannot be given back any more.
create function take_allowance(w int, what text, most bigint, about text, days int, request text)
returns table (granted boolean, taken boolean, used int, month date, open_until timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  held allowance_unit%rowtype;
begin
  -- not a row of the month: around its turn two calls would lock two
  perform pg_advisory_xact_lock(hashtextextended('allowance ' || w || ' ' || what, 0));
  take_allowance.month := date_trunc('month', now() at time zone 'utc')::date;
  select m.used into take_allowance.used
  from allowance_month m
  where m.workspace_id = w and m.allowance = what and m.month = take_allowance.month;
  used := coalesce(used, 0);

  select * into held from allowance_unit u where u.workspace_id = w and u.allowance = what and u.subject = about;
  if held.open_until > now() then
    if held.request_id <> request then
      update allowance_unit u set request_id = null
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
  insert into allowance_unit as u (workspace_id, allowance, subject, month, open_until, request_id)
  values (w, what, about, take_allowance.month, take_allowance.open_until, request)
  on conflict (workspace_id, allowance, subject) do update
  set month = excluded.month, opened_at = excluded.opened_at, open_until = excluded.open_until,
    request_id = excluded.request_id;
  return query select true, true, used, take_allowance.month, take_allowance.open_until;
end $$;

-- give_back_allowance: undoes what a request took for a subject, once; false where there is nothing to undo, or others rely
-- on it.
create function give_back_allowance(w int, what text, about text, request text) returns boolean
language plpgsql as $$
declare
  counted date;
begin
  perform pg_advisory_xact_lock(hashtextextended('allowance ' || w || ' ' || what, 0));
  delete from allowance_unit
  where workspace_id = w and allowance = what and subject = about and request_id = request
  returning month into counted;
  if counted is null then return false; end if;
  update allowance_month set used = used - 1 where workspace_id = w and allowance = what and month = counted;
  return true;
end $$;
