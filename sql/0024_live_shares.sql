-- What was asked for on request: by whom, and until when anybody is told of it; after that nobody wants it any more. What a
-- workspace asks beyond its share is of class 4, behind all that is due.
alter table due
  add asked_by int,
  add asked_until timestamptz,
  drop constraint due_class_check,
  add constraint due_class_check check (class between 0 and 4);
create index due_asked on due (asked_by) where asked_by is not null;
update due
set asked_until = now() + interval '2 minutes'
where class = 0;

-- The turns at an upstream that a workspace has used for what it asked on request, as the moment until which its share is
-- used up. Workspace 0 stands for all of them.
create table live_share (
  workspace_id int not null,
  upstream text not null,
  used_until timestamptz not null,
  primary key (workspace_id, upstream)
);

-- as before (0005), but what is still being asked for stays, whatever its class, and what no longer is goes
create or replace function forget_untracked(k text, p text, s text, subjects text[]) returns int
language plpgsql as $$
declare
  gone int;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('tracking followed', 0)) then return 0; end if;
  with untracked as materialized (
    select d.ctid
    from due d
    where d.kind = k and d.platform = p and d.storefront = s and d.subject = any(subjects)
      and d.lease is null and (d.asked_until is null or d.asked_until <= now()) and d.kind <> 'canary'
      and not exists (
        select
        from tracked_subject t
        where t.kind = d.kind and t.platform = d.platform and t.storefront = d.storefront and t.subject = d.subject
        -- looked up for each: joined, all that is tracked was read (1 s at 10,000 terms before there were statistics)
        offset 0
      )
    order by d.subject
    for update of d skip locked
  )
  delete from due
  where ctid = any(array(select ctid from untracked));
  get diagnostics gone = row_count;
  return gone;
end $$;
