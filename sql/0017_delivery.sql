-- Where alerts go beside the feed: channels, and what is to be told on each of them.

create table channel (
  id text primary key,
  workspace_id int not null references workspace,
  kind text not null check (kind in ('webhook', 'telegram', 'slack')),
  -- what may be shown of where it leads
  shown text not null,
  -- where it leads and what opens it (src/access/sealed.ts)
  sealed text not null,
  -- a webhook's secret from before it was rotated, which signs beside the newer until then
  sealed_earlier text,
  earlier_until timestamptz,
  created_at timestamptz not null default now(),
  -- why nothing is sent any more; null = it is on
  disabled text,
  disabled_at timestamptz,
  last_ok timestamptz,
  last_failure timestamptz,
  -- what the last failure was
  failure text,
  -- in a row
  failures int not null default 0 check (failures >= 0),
  -- nothing is sent before that: the receiver asked for it, or failed
  paused_until timestamptz,
  -- when something is to be sent next; null = nothing waits
  next_at timestamptz,
  -- whoever sends on it now, one at a time
  lease uuid,
  lease_until timestamptz,
  check ((sealed_earlier is null) = (earlier_until is null)),
  check ((disabled is null) = (disabled_at is null)),
  check ((lease is null) = (lease_until is null))
);
create index channel_workspace on channel (workspace_id, created_at, id);
create index channel_due on channel (next_at, id) where next_at is not null and disabled is null;

-- Alerts that some rule may want told, from the transaction that found them until their deliveries are written.
create table alert_to_deliver (
  alert_id bigint primary key references alert on delete cascade
);

create table delivery (
  -- the same for every attempt
  id text primary key,
  channel_id text not null references channel on delete cascade,
  alert_id bigint not null references alert on delete cascade,
  state text not null check (state in ('waiting', 'delivered', 'undelivered')),
  -- that failed, or delivered it
  attempts int not null default 0 check (attempts >= 0),
  created_at timestamptz not null default now(),
  -- null once it has ended
  next_at timestamptz,
  ended_at timestamptz,
  -- what the last attempt that failed met
  failure text,
  unique (channel_id, alert_id),
  check ((state = 'waiting') = (next_at is not null)),
  check ((state = 'waiting') = (ended_at is null))
);
create index delivery_waiting on delivery (channel_id, (attempts > 0), alert_id) where state = 'waiting';
create index delivery_next on delivery (channel_id, next_at) where state = 'waiting';
create index delivery_undelivered on delivery (channel_id, ended_at) where state = 'undelivered';
create index delivery_alert on delivery (alert_id, channel_id);

-- in the finding's own transaction: what is found is told, in whatever order ids are committed
create function queue_found_alerts() returns trigger
language plpgsql as $$
begin
  insert into alert_to_deliver (alert_id)
  select f.id
  from found f
  where f.origin = 'own'
    and exists (select from alert_rule r where r.workspace_id = f.workspace_id and r.type = f.type)
  order by f.id;
  return null;
end $$;

create trigger alerts_are_delivered
after insert on alert
referencing new table as found
for each statement execute function queue_found_alerts();
