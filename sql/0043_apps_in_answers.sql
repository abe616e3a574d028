-- Which keywords' latest answers hold an app, whoever it is: of 20,000 lists of 200 places a walk takes 40 to 140 ms, the index 1 to
-- 10. It is on what stands now alone, a row a list, about as large as the apps in it; on all days it would be as large as they are.

-- The demo's answers are nobody's market.
alter table list_now add origin text not null default 'own';

update list_now n
set origin = r.origin
from search_results r
where (r.list_id, r.day, r.source, r.seen_at) = (n.list_id, n.day, n.source, n.seen_at) and r.complete and r.origin <> 'own';

-- what waits to be sorted into it is read by every question, and sorted by whoever makes it too much: about 30 answers may wait
create index list_now_apps on list_now using gin (app_ids) with (gin_pending_list_limit = 128);
create index list_now_demo on list_now (list_id) where origin = 'demo';
