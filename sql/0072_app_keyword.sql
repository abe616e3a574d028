-- What answers say of a keyword that an app of the world is tracked for, made ready where it is measured.

-- Derived from list_now and keyword_now under the list's lock, for each pair that anybody tracks.
create table app_keyword (
  list_id int not null references list on delete cascade,
  app_id int not null references store_app on delete cascade,
  -- the list's
  storefront text not null,
  term text not null,
  -- how the text is made: of another form it is not used
  form smallint not null,
  shown text not null,
  primary key (list_id, app_id)
) with (fillfactor = 70);
-- by one number: by texts a look-up takes three times as long
create index app_keyword_term on app_keyword (app_id, hashtextextended(term, hashtextextended(storefront, 0)));

create index due_keyword on due (hashtextextended(subject, hashtextextended(storefront, 0)))
  where kind in ('search', 'hints', 'difficulty');
