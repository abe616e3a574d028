-- What a market's row shows of an app stands in one small row, as JSON: a page of 50 apps was three tables' pages for each of them.

-- Derived from store_app_name and store_app under the app's lock. An app without a row was not derived yet, or nothing of it is
-- known.
create table app_shown (
  app_id int primary key references store_app on delete cascade,
  -- where `others` has no other: in the United States, else in the first storefront that has one
  name text not null,
  -- the publisher, a tab, its id
  publisher text not null,
  -- by storefront, those that differ
  others jsonb
);
