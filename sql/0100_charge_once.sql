-- The rule of money: a month starts with nothing used, monthly credits are spent before packs, a call must fit both the
-- key's budget and the workspace's balance. It stands in balance() and spend() only; charge() locks and writes.

drop function charge_each(int[], int[], int[], text[], text[], boolean);
drop function charge_many(int[], int[], int[], text[], text[], boolean);
drop function charge_all(int[], int[], int[], text[], text[], boolean);
drop function charge(int, int, int, text, text);

-- balance: what an account and one of its keys (or null) have used in the current month and have left. `remaining` is
-- monthly + pack, `total` is used + remaining, key_used and budget are the key's.
create function balance(a account, k key_month)
returns table (
  month date, resets_at timestamptz, used bigint, from_pack bigint, monthly bigint, pack bigint, remaining bigint,
  total bigint, key_used bigint, budget bigint
)
language sql stable as $$
  select m.month, (m.month + interval '1 month') at time zone 'utc',
    u.used, u.from_pack, q.monthly, a.pack, q.monthly + a.pack, u.used + q.monthly + a.pack,
    case when k.month < m.month then 0 else k.used end, k.budget
  -- greatest: a transaction that began before the turn of the month must not turn an account back
  from (select greatest(a.month, date_trunc('month', now() at time zone 'utc')::date) as month) m
  cross join lateral (
    select case when a.month < m.month then 0 else a.used end as used,
      case when a.month < m.month then 0 else a.from_pack end as from_pack
  ) u
  -- greatest: a quota that was lowered below what was used leaves nothing of itself, and the packs untouched
  cross join lateral (select greatest(0, a.quota - (u.used - u.from_pack)) as monthly) q
$$;

-- spend: decides each due of the accounts in `held` in the order of workspace, key and place, and writes nothing.
-- `refused` is null if the due is paid, else the fault code; the columns from month on are the balance after it.
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
    -- each account is read once, however many dues it has: a row that is updated often is slow to read
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
-- decided due: its place (1 is the first), the fault code if it was refused, the balance after it. It locks accounts
-- in the order of their ids. With `waits` it waits for them and fails if an account or key does not exist; without, it
-- leaves out the dues of locked accounts, so that no workspace waits for another's lock.
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
  -- a statement of its own: it reads what was committed while a lock was waited for
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
