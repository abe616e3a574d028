-- By what an app is found when somebody types its name or its publisher: derived from store_app_name and store_app, and written in
-- the transaction that writes those. The program folds, so that every database and locale gives the same; rows of before are
-- filled when a server starts.

create table app_text (
  app_id int primary key references store_app on delete cascade,
  -- of the folding: rows of another one are made anew
  formula smallint not null,
  -- every name, then the publisher
  folded text collate "C" not null,
  -- numbers of the pieces of its words
  grams int[] not null
);
-- what waits to be sorted into it is read by every search, and sorted by whoever makes it too much: little may wait
create index app_text_grams on app_text using gin (grams) with (gin_pending_list_limit = 512);
