-- The demo's search results are read like those of any other publisher.
drop index list_now_demo;
drop index list_now_shallow;
create index list_now_shallow on list_now (storefront, platform)
where depth < 10 and cardinality(app_ids) >= depth;
