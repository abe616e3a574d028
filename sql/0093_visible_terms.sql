-- Terms lost their invisible characters, and "İ" is lower-cased to "i". Terms stored before take the new spelling with their
-- history; where the new spelling is stored too, it is the one that stays tracked.
create function pg_temp.visible_term(term text) returns text
language sql immutable as $$
  select btrim(normalize(replace(
    regexp_replace(
      regexp_replace(
        term, U&'[\00AD\034F\061C\115F\1160\17B4\17B5\180B-\180F\200B\200E\200F\202A-\202E\2060-\206F\3164\FEFF\FFA0]', '', 'g'
      ),
      U&'(^|[ -~])[\200C\200D\FE00-\FE0F]+(?![\20E3])', '\1', 'g'
    ),
    U&'i\0307', 'i'
  ), nfc))
$$;

create temporary table renamed on commit drop as
select distinct on (platform, storefront, visible) id, visible
from (
  select id, platform, storefront, term, pg_temp.visible_term(term) as visible
  from list
  where term ~ U&'[\00AD\034F\061C\115F\1160\17B4\17B5\180B-\180F\200B-\200F\202A-\202E\2060-\206F\3164\FE00-\FE0F\FEFF\FFA0\0307]'
) l
where visible not in ('', term)
  and not exists (select from list o where (o.platform, o.storefront, o.term) = (l.platform, l.storefront, l.visible))
order by platform, storefront, visible, id;

update list l set term = r.visible from renamed r where l.id = r.id;
update list_now n set term = r.visible from renamed r where n.list_id = r.id;
update app_keyword k set term = r.visible from renamed r where k.list_id = r.id;

create temporary table respelt on commit drop as
select app_id, country, term, position, added_at, pg_temp.visible_term(term) as visible
from tracked_term
where term ~ U&'[\00AD\034F\061C\115F\1160\17B4\17B5\180B-\180F\200B-\200F\202A-\202E\2060-\206F\3164\FE00-\FE0F\FEFF\FFA0\0307]';

insert into list (platform, storefront, term)
select distinct p.platform, r.country, r.visible
from respelt r
join tracked_app a on a.id = r.app_id
cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) p (platform, app)
where p.app is not null and r.visible not in ('', r.term)
on conflict do nothing;

insert into tracked_term (app_id, country, term, position, added_at)
select app_id, country, visible, position, added_at
from respelt
where visible not in ('', term)
on conflict do nothing;

delete from tracked_term t
using respelt r
where (t.app_id, t.country, t.term) = (r.app_id, r.country, r.term) and r.visible <> r.term;
