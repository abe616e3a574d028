-- A process keeps where apps stand and what is shown of keywords: by this it finds what was written since.

-- Of a list whose answer, or whose figures, of now became others or went. One that was deleted stays here.
create table list_news (
  list_id int primary key,
  -- the list's
  platform text not null,
  storefront text not null,
  -- the transaction that wrote last
  changed xid8 not null
) with (fillfactor = 70);
create index list_news_changed on list_news (storefront, platform, changed);

-- whoever writes, also a program of before this
create function note_list_news() returns trigger language plpgsql as $$
begin
  insert into list_news as held (list_id, platform, storefront, changed)
  select id, platform, storefront, pg_current_xact_id()
  from list
  where id = coalesce(new.list_id, old.list_id)
  on conflict (list_id) do update
  set changed = excluded.changed
  where held.changed <> excluded.changed;
  return null;
end $$;

create trigger note_list_news after insert or update or delete on list_now
  for each row execute function note_list_news();
create trigger note_list_news after insert or update or delete on keyword_now
  for each row execute function note_list_news();
