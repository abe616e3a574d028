-- Charges of many workspaces that come together are mostly one of each. Then nothing is summed up, put in order or looked at charge
-- by charge, and a statement of 4 to 64 takes four fifths of what charge_many takes.

-- charge_each: as charge_many, of charges no two of which are of one workspace.
create function charge_each(ws int[], ks int[], costs int[], ops text[], requests text[], waits boolean)
returns table (paid json, decided json)
language plpgsql as $$
declare
  held int[];
  known int;
begin
  if waits then
    held := array(select workspace_id from account where workspace_id = any(ws) order by workspace_id for update);
  else
    held := array(select workspace_id from account where workspace_id = any(ws) order by workspace_id for update skip locked);
  end if;
  -- a statement of its own: it sees what was committed while a lock was waited for
  with stood as materialized (
    select x.place, x.w, x.k, x.cost, x.op, x.request, t.month, f.used, f.from_pack, a.quota, a.pack, f.key_used, m.budget,
      greatest(0, x.cost - f.monthly) as of_pack,
      case
        when f.key_used + x.cost > m.budget then 'key_budget_reached'
        when x.cost > f.monthly + a.pack then 'credits_exhausted'
      end as refused
    from unnest(ws, ks, costs, ops, requests) with ordinality x (w, k, cost, op, request, place)
    join account a on a.workspace_id = x.w
    join key_month m on m.key_id = x.k and m.workspace_id = x.w
    -- greatest: a transaction from before the turn that waited for the lock must not turn the month back
    cross join lateral (select greatest(a.month, date_trunc('month', now() at time zone 'utc')::date) as month) t
    cross join lateral (
      select case when a.month < t.month then 0 else a.used end as used,
        case when a.month < t.month then 0 else a.from_pack end as from_pack,
        case when m.month < t.month then 0 else m.used end as key_used,
        greatest(0, a.quota - case when a.month < t.month then 0 else a.used - a.from_pack end) as monthly
    ) f
    where x.w = any(held)
  ), spent as (
    update account a
    set month = s.month, used = s.used + s.cost, from_pack = s.from_pack + s.of_pack, pack = s.pack - s.of_pack
    from stood s
    where s.refused is null and a.workspace_id = s.w
  ), counted as (
    update key_month m
    set month = s.month, used = s.key_used + s.cost
    from stood s
    where s.refused is null and m.key_id = s.k
  ), entered as (
    insert into ledger (month, workspace_id, key_id, operation, cost, from_pack, request_id)
    select s.month, s.w, s.k, s.op, s.cost, s.of_pack, s.request
    from stood s
    where s.refused is null
  )
  select count(*),
    json_agg(json_build_array(s.w, s.k, s.month, s.used, s.from_pack, s.quota, s.pack, s.key_used, s.budget))
      filter (where s.refused is null),
    json_agg(json_build_array(
      s.place, s.refused, s.month, s.used, s.from_pack, s.quota, s.pack, s.key_used, s.budget
    )) filter (where s.refused is not null)
  into known, paid, decided
  from stood s;
  if waits and known < cardinality(ws) then
    raise no_data_found using message = 'no such account or key';
  end if;
  return next;
end $$;
