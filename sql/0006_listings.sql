-- What apps' own pages say in each storefront, and what changed there from one reading to the next.

-- How many gave five stars, four, three, two and one; null = not shown.
alter table rating_count add stars bigint[] check (cardinality(stars) = 5);

-- What a section of a page said, once however often it did: the page itself without ratings, versions and rows of other
-- apps; the store's row of similar apps; its row of the developer's other apps (both are store ids, in the order shown).
create table listing_content (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  section text not null check (section in ('page', 'similar', 'developer')),
  digest bytea not null check (length(digest) = 16),
  content jsonb not null,
  primary key (app_id, storefront, source, section, digest)
);

-- Readings one after the other in which a section said the same, read by the same parser and brought by the same origin:
-- a page that stays as it was costs an update a reading. A reading that did not show the section is in no run of it. The
-- demo's runs are never beside others of the same app, storefront and source.
create table listing_run (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  section text not null,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  -- every reading of the run, oldest first, and the bodies they were read from: an older reading that comes later with
  -- something else to say cuts the run in two
  moments timestamptz[] not null,
  sha256s bytea[] not null,
  digest bytea not null,
  parser smallint not null,
  origin text not null,
  primary key (app_id, storefront, source, section, first_seen_at),
  foreign key (app_id, storefront, source, section, digest) references listing_content,
  check (cardinality(moments) = cardinality(sha256s)),
  check (first_seen_at = moments[1] and seen_at = moments[cardinality(moments)])
);

-- Events and editors' cards that a page showed, from the first reading that did to the latest; the facts are the latest's.
create table listing_item (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  kind text not null check (kind in ('event', 'story', 'collection')),
  -- the store's own
  item_id text not null,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  title text,
  -- of an event: what kind the page calls it, what it says, and from when to when it runs
  label text,
  text text,
  starts_at timestamptz,
  ends_at timestamptz,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, storefront, source, kind, item_id)
);

-- Versions as a page told of them, each form once: notes that are edited keep their earlier form. The form that counts is
-- that of the newest parser, and of these the one that was first seen last.
create table listing_version (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  version text not null,
  -- of what makes the form: date, notes and language
  digest bytea not null check (length(digest) = 16),
  released_at timestamptz,
  notes text,
  -- BCP 47, of the notes; null = the page does not say
  language text,
  first_seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  primary key (app_id, storefront, source, version, digest)
);

-- What is different from what was known before, derived from runs and rating counts (src/observations/changes.ts). `at` is
-- when the first reading with it was seen, `before_seen_at` when the last one without it was; subject names the event or
-- card, '' where the kind says all.
create table listing_change (
  app_id int not null references store_app,
  at timestamptz not null,
  storefront text not null,
  source text not null,
  kind text not null check (kind in (
    'version', 'name', 'subtitle', 'icon', 'price', 'screenshots', 'description', 'promotional_text', 'event_started',
    'event_ended', 'featured', 'unfeatured', 'rating_jump', 'ratings_jump'
  )),
  subject text not null,
  -- null = it was not there, or is not any more
  before jsonb,
  after jsonb,
  before_seen_at timestamptz not null,
  origin text not null,
  -- in the order they are read: of an app the newest first, backwards
  primary key (app_id, at, storefront, source, kind, subject),
  check (before_seen_at < at)
);
