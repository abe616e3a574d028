-- Charges that arrive together share a statement and a commit: alone, each waited for the commit of the one before it.

-- charge_all: decides many charges, each for itself, in the order of workspace, key and place, by the rules of charge(). A row
-- for each that was decided: place counts from 1, the rest is what charge() gives. Accounts are locked first, in the order of
-- their ids. With `waits` it waits for them; without it, charges of an account that somebody else holds are left out, so that
-- nobody waits for another workspace's lock.
create function charge_all(ws int[], ks int[], costs int[], ops text[], requests text[], waits boolean)
returns table (
  place int, refused text, month date, used bigint, from_pack bigint, quota bigint, pack bigint, key_used bigint, budget bigint
)
language plpgsql as $$
#variable_conflict use_column
declare
  held int[];
  c record;
  a account%rowtype;
  b key_month%rowtype;
  monthly bigint;
  from_pack_now bigint;
  decided int := 0;
  -- what is written: the last state of each account and key that paid, and what each charge took
  accounts account[] := '{}';
  keys key_month[] := '{}';
  paid int[] := '{}';
  from_packs int[] := '{}';
  months date[] := '{}';
begin
  if cardinality(ws) = 1 then
    -- most charges come alone, and what follows would take them twice as long
    if not waits then
      perform from account where workspace_id = ws[1] for update skip locked;
      if not found then return; end if;
    end if;
    return query select 1, c.* from charge(ws[1], ks[1], costs[1], ops[1], requests[1]) c;
    return;
  end if;

  if waits then
    held := array(select workspace_id from account where workspace_id = any(ws) order by workspace_id for update);
  else
    held := array(select workspace_id from account where workspace_id = any(ws) order by workspace_id for update skip locked);
  end if;
  -- a statement of its own: it sees what was committed while a lock was waited for
  for c in
    select x.place::int, x.cost, o as account, m as key
    from unnest(ws, ks, costs) with ordinality x (w, k, cost, place)
    join account o on o.workspace_id = x.w
    join key_month m on m.key_id = x.k and m.workspace_id = x.w
    where x.w = any(held)
    order by x.w, x.k, x.place
  loop
    decided := decided + 1;
    if (c.account).workspace_id is distinct from a.workspace_id then
      a := c.account;
      -- greatest: a transaction from before the turn that waited for the lock must not turn the month back
      charge_all.month := greatest(a.month, date_trunc('month', now() at time zone 'utc')::date);
      if a.month < charge_all.month then
        a.month := charge_all.month;
        a.used := 0;
        a.from_pack := 0;
      end if;
    end if;
    if (c.key).key_id is distinct from b.key_id then
      b := c.key;
      if b.month < charge_all.month then
        b.month := charge_all.month;
        b.used := 0;
      end if;
    end if;

    monthly := greatest(0, a.quota - (a.used - a.from_pack));
    refused := null;
    if b.used + c.cost > b.budget then
      refused := 'key_budget_reached';
    elsif c.cost > monthly + a.pack then
      refused := 'credits_exhausted';
    else
      from_pack_now := greatest(0, c.cost - monthly);
      a.used := a.used + c.cost;
      a.from_pack := a.from_pack + from_pack_now;
      a.pack := a.pack - from_pack_now;
      b.used := b.used + c.cost;
      if accounts[cardinality(accounts)].workspace_id = a.workspace_id then
        accounts[cardinality(accounts)] := a;
      else
        accounts := accounts || a;
      end if;
      if keys[cardinality(keys)].key_id = b.key_id then
        keys[cardinality(keys)] := b;
      else
        keys := keys || b;
      end if;
      paid := paid || c.place;
      from_packs := from_packs || from_pack_now::int;
      months := months || charge_all.month;
    end if;
    place := c.place;
    used := a.used;
    from_pack := a.from_pack;
    quota := a.quota;
    pack := a.pack;
    key_used := b.used;
    budget := b.budget;
    return next;
  end loop;
  if waits and decided < cardinality(ws) then
    raise no_data_found using message = 'no such account or key';
  end if;
  update account o set month = t.month, used = t.used, from_pack = t.from_pack, pack = t.pack
  from unnest(accounts) t
  where o.workspace_id = t.workspace_id;
  update key_month m set month = t.month, used = t.used
  from unnest(keys) t
  where m.key_id = t.key_id;
  insert into ledger (month, workspace_id, key_id, operation, cost, from_pack, request_id)
  select p.month, ws[p.place], ks[p.place], ops[p.place], costs[p.place], p.from_pack, requests[p.place]
  from unnest(paid, from_packs, months) p (place, from_pack, month);
end $$;
