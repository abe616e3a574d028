-- Reviews as the stores show them, and how far they were read. Who wrote one is never stored.

-- Every form in which a review was shown: one that its writer edits keeps its earlier forms. `feed` is the list that it
-- stands in: that of a storefront on the App Store (us), that of a language on Google Play (en, pt-BR).
create table review_version (
  app_id int not null references store_app,
  feed text not null,
  -- the store's own
  review_id text not null,
  -- of what makes the form: stars, title, text and date
  digest bytea not null check (length(digest) = 16),
  -- the form that the latest reading showed: exactly one of each review
  current boolean not null,
  stars smallint not null check (stars between 1 and 5),
  -- null = it has none
  title text,
  -- '' = stars without words
  text text not null,
  -- of the app; null = not said
  version text,
  -- when it was written or last edited, as the store says
  at timestamptz not null,
  first_seen_at timestamptz not null,
  -- of the latest reading that showed it so
  seen_at timestamptz not null,
  source text not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, feed, review_id, digest)
);
create unique index review_current on review_version (app_id, feed, review_id) where current;
create index review_newest on review_version (app_id, feed, at desc, review_id) where current;
create index review_stars on review_version (app_id, feed, stars, at desc, review_id) where current;
create index review_app_version on review_version (app_id, feed, version, at desc, review_id) where current;

-- Each review once, as it stands.
create view review as
select app_id, feed, review_id, stars, title, text, version, at, first_seen_at, seen_at, source, parser, origin, sha256
from review_version
where current;

-- The latest reading of a feed that was complete, and the latest that was not. Without a row the feed was never read;
-- empty = the store itself said that there are no reviews.
create table review_read (
  app_id int not null references store_app,
  feed text not null,
  source text not null,
  complete boolean not null,
  -- when its last page was seen
  seen_at timestamptz not null,
  pages smallint not null check (pages > 0),
  empty boolean not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, feed, source, complete),
  check (complete or not empty)
);
