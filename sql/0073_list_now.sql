-- What a market read asks of a keyword stands beside the apps of its latest answer: which keyword it is, and how popular. Of five
-- apps that rank often, 4,200 keywords of 20,000 were looked up in two other tables before the first of them could be shown.

alter table list_now rename to list_before;
alter table list_before rename constraint list_now_pkey to list_before_pkey;
alter table list_before rename constraint list_now_list_id_fkey to list_before_list_id_fkey;
drop index list_now_apps;
drop index list_now_demo;

-- The answer of a list's last day. About 1 KB a row, new every day: room on the page lets it stay there. The long column is the
-- last, so that all others are read without it.
create table list_now (
  list_id int primary key references list,
  day date not null,
  seen_at timestamptz not null,
  source smallint not null,
  depth smallint not null,
  -- of keyword_now, by what keywords are ordered: published, else the estimate. Null = neither
  popularity smallint,
  -- the last day on which an estimate is young enough; null = for good, or there is none
  popular_until date,
  -- the list's
  platform text not null,
  storefront text not null,
  origin text not null default 'own',
  term text collate "C" not null,
  app_ids int[] not null,
  check (popular_until is null or popularity is not null)
) with (fillfactor = 70);

insert into list_now (
  list_id, day, seen_at, source, depth, popularity, popular_until, platform, storefront, origin, term, app_ids
)
select n.list_id, n.day, n.seen_at, n.source, n.depth, coalesce(k.published, k.estimate)::smallint,
  case when k.published is null and k.estimate is not null then k.estimate_day + 90 end, l.platform, l.storefront, n.origin,
  l.term, n.app_ids
from list_before n
join list l on l.id = n.list_id
left join keyword_now k on k.list_id = n.list_id
order by n.list_id;

drop table list_before;

-- what waits to be sorted into it is read by every question, and sorted by whoever makes it too much: about 30 answers may wait
create index list_now_apps on list_now using gin (app_ids) with (gin_pending_list_limit = 128);
create index list_now_demo on list_now (list_id) where origin = 'demo';
