-- Names and icons are of one origin, as an app's facts are: own readings first, then those of the publisher whose name sorts
-- first. All that came from a publisher can be removed.
alter table store_app_name add column origin text not null default 'own';
update store_app_name
set origin = 'demo'
where demo;
alter table store_app_name drop column demo;
alter table store_app_name alter column origin drop default;
-- Counts of every origin are packed.
alter table rating_quarter drop constraint rating_quarter_origin_check;
