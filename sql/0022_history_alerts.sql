-- What an import shows of days that were long past when it came: in the feed, and delivered nowhere.
alter table alert add column history boolean not null default false;

-- As before, but of what is news.
create or replace function queue_found_alerts() returns trigger
language plpgsql as $$
begin
  insert into alert_to_deliver (alert_id)
  select f.id
  from found f
  where f.origin = 'own' and not f.history
    and exists (select from alert_rule r where r.workspace_id = f.workspace_id and r.type = f.type)
  order by f.id;
  return null;
end $$;
