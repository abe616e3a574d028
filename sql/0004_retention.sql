-- What is kept for how long: the nightly clean-up (src/database/retention.ts), and the indexes it finds old rows by.

-- What is left of ledger rows that were taken away: a workspace's month, by operation. With the rows that are left the
-- costs of a workspace's month still add up to what it had used. A refund that comes later is a ledger row again, and is
-- added here when that one is taken away.
create table ledger_month (
  workspace_id int not null,
  month date not null,
  operation text not null,
  cost bigint not null,
  from_pack bigint not null,
  -- ledger rows that these sums stand for, refunds included
  entries bigint not null check (entries > 0),
  primary key (workspace_id, month, operation)
);

-- attempts may be imported late, so their ids do not follow their time
create index attempt_at on attempt (at, id);
create index audit_at on audit (at, id);
create index hive_day_day on hive_day (day, workspace_id);
-- also counts jobs by status
create index job_status on job (status, finished_at, id);

-- Audit rows leave only by age, and only where the transaction says that this is what it is about. The year is the
-- least: no setting and no mistake in the program takes a younger row.
create or replace function refuse_change() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('appmeter.audit_retention', true) = 'on' then
    return null;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create function refuse_young() returns trigger
language plpgsql as $$
begin
  if old.at > now() - interval '365 days' then
    raise exception '% keeps every row for a year', tg_table_name using errcode = 'restrict_violation';
  end if;
  return old;
end $$;

create trigger audit_kept_a_year
before delete on audit
for each row execute function refuse_young();
