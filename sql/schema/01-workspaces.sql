-- Workspaces, their keys, and what they spend: credits of a month, and the allowances of a plan.

create table workspace (
  id int generated always as identity primary key,
  name text not null,
  plan text not null check (plan in ('free', 'pro', 'studio', 'enterprise')),
  explorer boolean not null default false,
  ip_list_required boolean not null default false,
  -- Entitlements that differ from those of the plan, by name.
  overrides jsonb not null default '{}',
  -- Names of the actions that a person must approve outside the assistant, or "all". Applies to every key of the
  -- workspace.
  approve_outside text[] not null default '{}',
  -- Whether the person's answer to a question that the client shows counts as an approval.
  asking_approves boolean not null default false,
  suspended_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null default now()
);
-- A deleted workspace releases its name.
create unique index workspace_name on workspace (name) where deleted_at is null;

-- A person who signs in, to one workspace or several.
create table person (
  id int generated always as identity primary key,
  name text not null check (length(name) between 1 and 100),
  -- Argon2id, as a PHC string. Null: the person signs in with a code.
  passphrase text check (passphrase like '$argon2id$%'),
  -- Whether the person may see the machine's health, data folder and backups.
  is_operator boolean not null default false,
  created_at timestamptz not null default now(),
  -- When the person left their last workspace. The row stays, so that the audit can name them.
  removed_at timestamptz
);
create unique index person_name on person (lower(name)) where removed_at is null;

-- A key of kind 'grant' has no secret: a session or an access token stands for it.
create table api_key (
  id int generated always as identity primary key,
  workspace_id int not null references workspace,
  -- The person to whom the key belongs. The key has no right that the person lacks, and ends with the person's
  -- membership. Null: it was created on the machine and belongs to nobody.
  person_id int references person,
  kind text not null check (kind in ('live', 'test', 'grant')),
  name text not null,
  -- The secret itself is shown once and never stored.
  secret_sha256 bytea unique,
  hint text not null,
  scopes text[] not null,
  ip_allow_list text[],
  app_list text[],
  -- As in workspace, for this key alone.
  approve_outside text[] not null default '{}',
  expires_at timestamptz,
  paused_at timestamptz,
  revoked_at timestamptz,
  leaked_at timestamptz,
  created_at timestamptz not null default now(),
  constraint api_key_secret_check check ((kind = 'grant') = (secret_sha256 is null))
);
create index api_key_workspace on api_key (workspace_id, id);
create index api_key_person on api_key (person_id, workspace_id) where person_id is not null;

-- A person's membership of a workspace is a grant: its scopes and apps are the person's rights there.
create table membership (
  person_id int not null references person,
  workspace_id int not null references workspace,
  key_id int not null unique references api_key,
  created_at timestamptz not null default now(),
  -- When the person last opened the overview. Null: never.
  visited_at timestamptz,
  -- The overview shows what was found after this time. Null until the first visit.
  seen_at timestamptz,
  -- seen_at before the person marked everything as seen, to undo that. Null: there is nothing to undo.
  seen_before timestamptz,
  primary key (person_id, workspace_id)
);
create index membership_workspace on membership (workspace_id, person_id);

-- The credits of a workspace. A row of an earlier month counts as used 0 and from_pack 0.
create table account (
  workspace_id int primary key references workspace,
  month date not null,
  -- Credits used since the start of the month, whether the quota or a pack paid for them.
  used bigint not null default 0 check (used >= 0),
  -- The part of `used` that packs paid.
  from_pack bigint not null default 0,
  quota bigint not null check (quota >= 0),
  -- The rest of the packs. It is spent after the quota and carried over to the next month.
  pack bigint not null default 0 check (pack >= 0),
  -- When a pack was last bought. It gives access to REST for twelve months, even if nothing is left of the pack.
  pack_bought_at timestamptz,
  constraint account_from_pack_check check (from_pack between 0 and used)
);

-- Credits that a key spent in a month, and the key's limit. Null: no limit.
create table key_month (
  key_id int primary key references api_key,
  workspace_id int not null references workspace,
  month date not null,
  used bigint not null default 0 check (used >= 0),
  budget bigint check (budget >= 0)
);

-- Append-only. The costs of a workspace's month add up to its `used`. A refund repeats its charge with both amounts
-- negated.
create table ledger (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  month date not null,
  workspace_id int not null,
  key_id int not null,
  operation text not null,
  cost int not null check (cost <> 0),
  from_pack int not null default 0,
  request_id text not null
);
create index ledger_workspace on ledger (workspace_id, at, id);

-- The sums of deleted ledger rows, by workspace, month and operation. With the remaining rows, the costs of a month
-- still add up to what the workspace used. A later refund is a ledger row until it is deleted and added here.
create table ledger_month (
  workspace_id int not null,
  month date not null,
  operation text not null,
  cost bigint not null,
  from_pack bigint not null,
  -- How many ledger rows these sums replace, refunds included.
  entries bigint not null check (entries > 0),
  primary key (workspace_id, month, operation)
);

-- Units used of an allowance in a period: a month, a day ('hive', 'measurements') or all time ('listingWritesEver').
create table allowance_used (
  workspace_id int not null references workspace,
  -- The name of an entitlement.
  allowance text not null check (allowance in (
    'discovery', 'aiQuestions', 'reviewAi', 'aiWriting', 'aiVisibility', 'spy', 'listingWrites', 'listingWritesEver',
    'hive', 'measurements'
  )),
  -- The first day of the period.
  period date not null,
  used int not null check (used >= 0),
  primary key (workspace_id, allowance, period)
) with (fillfactor = 50);
-- Retention deletes old daily counts and keeps monthly ones.
create index allowance_used_daily on allowance_used (period, workspace_id)
where allowance in ('hive', 'measurements');

-- The last use of a unit. While it is open, the same subject costs no other unit.
create table allowance_unit (
  workspace_id int not null references workspace,
  allowance text not null,
  subject text not null,
  -- The period in which the unit counts.
  period date not null,
  opened_at timestamptz not null default now(),
  open_until timestamptz not null,
  -- Requests that rely on the unit and may still fail. When the last of them fails, the unit is given back. Null: the
  -- unit is kept.
  requests text[],
  -- Whether a request that relied on the unit was answered.
  answered boolean not null default false,
  primary key (workspace_id, allowance, subject),
  constraint allowance_unit_open_until_check check (open_until >= opened_at)
);

-- State of this installation, for example that the demo was loaded.
create table instance (
  key text primary key,
  value text not null
);

-- The rules of credits are in balance() and spend() only: a month starts with nothing used, monthly credits are spent
-- before packs, and a charge must fit the key's budget and the workspace's balance. charge() locks and writes. balance:
-- returns what an account and one of its keys (or null) have used in the current month and have left. `remaining` is
-- monthly + pack, `total` is used + remaining; key_used and budget are the key's.
create function balance(a account, k key_month)
returns table (
  month date, resets_at timestamptz, used bigint, from_pack bigint, monthly bigint, pack bigint, remaining bigint,
  total bigint, key_used bigint, budget bigint
)
language sql stable as $$
  select m.month, (m.month + interval '1 month') at time zone 'utc',
    u.used, u.from_pack, q.monthly, a.pack, q.monthly + a.pack, u.used + q.monthly + a.pack,
    case when k.month < m.month then 0 else k.used end, k.budget
  -- greatest: a transaction that began before the turn of the month must not set an account back.
  from (select greatest(a.month, date_trunc('month', now() at time zone 'utc')::date) as month) m
  cross join lateral (
    select case when a.month < m.month then 0 else a.used end as used,
      case when a.month < m.month then 0 else a.from_pack end as from_pack
  ) u
  -- greatest: a quota lowered below what was used leaves no monthly credits and does not touch the packs.
  cross join lateral (select greatest(0, a.quota - (u.used - u.from_pack)) as monthly) q
$$;

-- spend: decides each due of the accounts in `held` in the order of workspace, key and place. Writes nothing. `refused`
-- is null if the due is paid, else the fault code; the columns from `month` on are the balance after it.
create function spend(dues jsonb, held int[])
returns table (
  place int, workspace_id int, key_id int, cost int, operation text, request_id text, of_pack int, refused text,
  month date, resets_at timestamptz, used bigint, from_pack bigint, pack bigint, remaining bigint, total bigint,
  key_used bigint, budget bigint
)
language plpgsql stable as $$
#variable_conflict use_column
declare
  due record;
  monthly bigint;
begin
  for due in
    with ordered as materialized (
      select d.*
      from rows from (
        jsonb_to_recordset(dues) as (workspace_id int, key_id int, cost int, operation text, request_id text)
      ) with ordinality d (workspace_id, key_id, cost, operation, request_id, place)
      where d.workspace_id = any(held)
    -- Each account is read once, however many dues it has: a row that is updated often is slow to read.
    ), balances as materialized (
      select k.workspace_id, k.key_id, b.*
      from (select distinct workspace_id, key_id from ordered) o
      join account a on a.workspace_id = o.workspace_id
      join key_month k on k.key_id = o.key_id and k.workspace_id = o.workspace_id
      cross join lateral balance(a, k) b
    )
    select o.place::int, o.cost, o.operation, o.request_id, b.*
    from ordered o
    join balances b using (workspace_id, key_id)
    order by o.workspace_id, o.key_id, o.place
  loop
    place := due.place;
    cost := due.cost;
    operation := due.operation;
    request_id := due.request_id;
    if workspace_id is distinct from due.workspace_id then
      workspace_id := due.workspace_id;
      month := due.month;
      resets_at := due.resets_at;
      used := due.used;
      from_pack := due.from_pack;
      monthly := due.monthly;
      pack := due.pack;
      total := due.total;
    end if;
    if key_id is distinct from due.key_id then
      key_id := due.key_id;
      key_used := due.key_used;
      budget := due.budget;
    end if;

    of_pack := greatest(0, cost - monthly);
    refused := case
      when key_used + cost > budget then 'key_budget_reached'
      when of_pack > pack then 'credits_exhausted'
    end;
    if refused is null then
      monthly := monthly - (cost - of_pack);
      pack := pack - of_pack;
      used := used + cost;
      from_pack := from_pack + of_pack;
      key_used := key_used + cost;
    end if;
    remaining := monthly + pack;
    return next;
  end loop;
end $$;

-- charge: pays or refuses each of `dues` ([{workspace_id, key_id, cost, operation, request_id}]). Returns a row per
-- decided due: its place (1 is the first), the fault code if it was refused, and the balance after it. Locks accounts
-- in the order of their ids. With `waits` it waits for locked accounts and fails if an account or key does not exist;
-- without, it skips their dues, so that no workspace waits for another's lock.
create function charge(dues jsonb, waits boolean)
returns table (
  place int, refused text, resets_at timestamptz, used bigint, pack bigint, remaining bigint, total bigint,
  key_used bigint, budget bigint
)
language plpgsql as $$
#variable_conflict use_column
declare
  owing int[] := array(select distinct workspace_id from jsonb_to_recordset(dues) d (workspace_id int));
  held int[];
  decided int;
begin
  if waits then
    perform from account where workspace_id = any(owing) order by workspace_id for update;
  end if;
  held := array(
    select workspace_id from account where workspace_id = any(owing) order by workspace_id for update skip locked
  );
  -- A statement of its own: it reads what was committed while it waited for a lock.
  return query
    with decided as materialized (
      select * from spend(dues, held)
    ), charged_accounts as (
      update account a
      set month = d.month, used = d.used, from_pack = d.from_pack, pack = d.pack
      from (
        select distinct on (workspace_id) *
        from decided
        where refused is null
        order by workspace_id, used desc
      ) d
      where a.workspace_id = d.workspace_id
    ), charged_keys as (
      update key_month k
      set month = d.month, used = d.key_used
      from (
        select distinct on (key_id) *
        from decided
        where refused is null
        order by key_id, key_used desc
      ) d
      where k.key_id = d.key_id
    ), entries as (
      insert into ledger (month, workspace_id, key_id, operation, cost, from_pack, request_id)
      select month, workspace_id, key_id, operation, cost, of_pack, request_id
      from decided
      where refused is null
      order by place
    )
    select place, refused, resets_at, used, pack, remaining, total, key_used, budget
    from decided;
  get diagnostics decided = row_count;
  if waits and decided < jsonb_array_length(dues) then
    raise no_data_found using message = 'no such account or key';
  end if;
end $$;

-- refund: gives back the charge of a request made at or after `since`, once, to where it was taken from. False if there
-- is no such charge or it was given back already. A request lasts seconds: an hour is ample and limits the scan.
create function refund(w int, k int, request text, since timestamptz default now() - interval '1 hour') returns boolean
language plpgsql as $$
declare
  a account%rowtype;
  paid ledger%rowtype;
  same_month boolean;
begin
  select * into strict a from account where workspace_id = w for update;
  select * into paid
  from ledger
  where workspace_id = w and at >= since and key_id = k and request_id = request
  order by at desc, id desc
  limit 1;
  if not found or paid.cost < 0 then return false; end if;

  same_month := paid.month = a.month;
  update account set
    used = case when same_month then used - paid.cost else used end,
    from_pack = case when same_month then from_pack - paid.from_pack else from_pack end,
    pack = pack + paid.from_pack
  where workspace_id = w;
  update key_month set used = used - paid.cost where key_id = k and month = paid.month;
  insert into ledger (month, workspace_id, key_id, operation, cost, from_pack, request_id)
  values (paid.month, w, k, paid.operation, -paid.cost, -paid.from_pack, request);
  return true;
end $$;

-- allowance_period: the first day of the current period of an allowance, and when it is renewed. Null if it never is.
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
-- [{workspace_id, allowance, most, count, subject, days, request_id}]. A unit with a subject can be given back. It
-- opens its subject for some days, and an open subject is granted without another unit. Returns a row per decided
-- entry: its place (1 is the first), how many units are granted and how many are used after it. With `waits` it waits
-- for the lock of each allowance; without, it skips locked ones, so that no workspace waits for another's lock.
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
  -- No row lock: at the turn of a period two calls would lock two rows.
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
      -- `requests` lists the requests that may still give the unit back. Null: the unit is kept.
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
