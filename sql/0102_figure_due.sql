-- An import marks what it changed; the figures of the keywords that rest on it are derived at its end, or by the next
-- import where it broke off. `subject` is a keyword, a prefix that hints were read for, or the id of a store_app whose
-- counts or dates, or whose name, changed in that storefront.
create table figure_due (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  kind text not null check (kind in ('term', 'hint', 'app', 'name')),
  subject text not null,
  primary key (kind, platform, storefront, subject)
);
-- Finds the keywords whose figures rest on an app. The pending list is scanned by each search of the index: keep it short.
create index list_now_first_ten on list_now using gin ((app_ids[1:10])) with (gin_pending_list_limit = 512);
-- Lists whose latest answer is not the one that figures rest on.
create index list_now_shallow on list_now (storefront, platform)
where origin = 'demo' or depth < 10 and cardinality(app_ids) >= depth;
-- Both find keywords by their beginning, in any collation.
create index list_beginning on list (platform, storefront, term text_pattern_ops);
drop index tracked_term_term;
create index tracked_term_term on tracked_term (country, term text_pattern_ops);
