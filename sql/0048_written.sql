-- Texts that a model wrote, and how many calls rely on a unit of an allowance.

-- A text is written once for all who ask for the same (src/writing/port).
create table writer_text (
  kind text not null,
  -- SHA-256 of what it is made from; of a workspace's own data the workspace is part of it
  digest text not null,
  created_at timestamptz not null default now(),
  -- of the process that writes it
  lease uuid,
  lease_until timestamptz,
  -- {value, dropped}; null = not written yet
  value jsonb,
  model text,
  version smallint,
  made_at timestamptz,
  -- why the latest try gave nothing, until it was told
  failure text check (failure in ('off', 'spent', 'busy', 'unusable')),
  retry_after int,
  primary key (kind, digest),
  check ((lease is null) = (lease_until is null)),
  check ((value is null) = (made_at is null) and (value is null or model is not null and version is not null))
);
create index writer_text_lease on writer_text (lease) where lease is not null;
create index writer_text_created on writer_text (created_at);

-- Tokens of each UTC day, of all processes together.
create table writer_day (
  day date primary key,
  input bigint not null check (input >= 0),
  output bigint not null check (output >= 0)
);

-- The requests that rely on a unit and may still fail: the last of them gives it back. null = it stays.
alter table allowance_unit drop column request_id, add column requests text[];

alter table allowance_month drop constraint allowance_month_allowance_check;
alter table allowance_month add constraint allowance_month_allowance_check check (allowance in (
  'discovery', 'aiQuestions', 'reviewAi', 'aiWriting', 'aiVisibility', 'spy', 'listingWrites', 'listingWritesEver'
));

-- As before, but that calls which join a unit and fail like the one that took it leave nothing taken. What succeeds stays in
-- the list, so that others' failures give nothing back; a call takes less than ten minutes, so that whoever finds an older
-- unit knows that it stays. 'listingWritesEver' is counted in no month: it is never renewed.
create or replace function take_allowance(w int, what text, most bigint, about text, days int, request text)
returns table (granted boolean, taken boolean, used int, month date, open_until timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  held allowance_unit%rowtype;
begin
  -- not a row of the month: around its turn two calls would lock two
  perform pg_advisory_xact_lock(hashtextextended('allowance ' || w || ' ' || what, 0));
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
    requests = excluded.requests;
  return query select true, true, used, take_allowance.month, take_allowance.open_until;
end $$;

-- give_back_allowance: a request that failed relies on a unit no more; with the last of them it is given back, once. False
-- where it is not, or others rely on it.
create or replace function give_back_allowance(w int, what text, about text, request text) returns boolean
language plpgsql as $$
declare
  counted date;
begin
  perform pg_advisory_xact_lock(hashtextextended('allowance ' || w || ' ' || what, 0));
  update allowance_unit set requests = array_remove(requests, request)
  where workspace_id = w and allowance = what and subject = about and request = any(requests);
  delete from allowance_unit
  where workspace_id = w and allowance = what and subject = about and cardinality(requests) = 0
  returning month into counted;
  if counted is null then return false; end if;
  update allowance_month set used = used - 1 where workspace_id = w and allowance = what and month = counted;
  return true;
end $$;
