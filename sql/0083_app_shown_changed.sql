-- A process keeps what it has read of apps, and which apps have a text: by this it finds what was written since.

-- the transaction that wrote the row last; also where only the text by which the app is found became another
alter table app_shown add changed xid8 not null default pg_current_xact_id();
create index app_shown_changed on app_shown (changed);

-- whoever writes, also a program of before this
create function stamp_app_shown() returns trigger language plpgsql as $$
begin
  new.changed := pg_current_xact_id();
  return new;
end $$;

create trigger stamp_app_shown before update on app_shown for each row execute function stamp_app_shown();
