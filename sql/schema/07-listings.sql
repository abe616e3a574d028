-- Contents of the stores' own pages of an app in each storefront, and the changes from one reading to the next.

-- The content of a section of a page, stored once however often it is read: the page itself without ratings, versions
-- and rows of other apps; the row of similar apps; the row of the publisher's other apps (the last two are store ids in
-- the order shown). Section 'stale' is the page in an answer from a stale cache.
create table listing_content (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  section text not null check (section in ('page', 'similar', 'developer', 'stale')),
  digest bytea not null check (length(digest) = 16),
  content jsonb not null,
  primary key (app_id, storefront, source, section, digest)
);

-- Consecutive readings of a section with the same content, parser and origin: a page that does not change costs an
-- update per reading. A reading without the section is in no run of it. An app, storefront and source never has both
-- runs of the demo and other runs.
create table listing_run (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  section text not null,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  -- The time of each reading and the hash of its body, oldest first. An older reading that arrives later with other
  -- content splits the run.
  moments timestamptz[] not null,
  sha256s bytea[] not null,
  digest bytea not null,
  -- The release date on the page. A reading with an earlier date than a reading before it came from a stale cache.
  released_at timestamptz,
  parser smallint not null,
  origin text not null,
  primary key (app_id, storefront, source, section, first_seen_at),
  constraint listing_run_content_fkey foreign key (app_id, storefront, source, section, digest)
    references listing_content,
  constraint listing_run_bodies_check check (cardinality(moments) = cardinality(sha256s)),
  constraint listing_run_span_check check (first_seen_at = moments[1] and seen_at = moments[cardinality(moments)])
);

-- Events and editorial cards on a page, from the first reading that showed them to the latest. The facts are those of
-- the latest.
create table listing_item (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  kind text not null check (kind in ('event', 'story', 'collection')),
  -- The store's id.
  item_id text not null,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  title text,
  -- The kind of an event as the page names it, its text, and its start and end.
  label text,
  text text,
  starts_at timestamptz,
  ends_at timestamptz,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, storefront, source, kind, item_id)
);

-- Versions as a page describes them. Notes that were edited keep their earlier forms. The form from the newest parser
-- counts; of several such forms, the one whose first reading is the latest.
create table listing_version (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  version text not null,
  -- A hash of date, notes and language.
  digest bytea not null check (length(digest) = 16),
  released_at timestamptz,
  notes text,
  -- The language of the notes (BCP 47). Null if the page does not say.
  language text,
  first_seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  primary key (app_id, storefront, source, version, digest)
);

-- Differences between readings, derived from runs and rating counts.
create table listing_change (
  app_id int not null references store_app,
  -- When the first reading with the change was seen.
  at timestamptz not null,
  storefront text not null,
  source text not null,
  kind text not null check (kind in (
    'version', 'name', 'subtitle', 'icon', 'price', 'screenshots', 'description', 'promotional_text', 'event_started',
    'event_ended', 'featured', 'unfeatured', 'rating_jump', 'ratings_jump'
  )),
  -- The event or card; '' for kinds of changes that concern neither.
  subject text not null,
  -- Null: the value was not there before, or is no longer there.
  before jsonb,
  after jsonb,
  -- When the last reading without the change was seen.
  before_seen_at timestamptz not null,
  origin text not null,
  primary key (app_id, at, storefront, source, kind, subject),
  constraint listing_change_before_seen_at_check check (before_seen_at < at)
);
-- Finds out whether an app's own page also shows a change that a look-up shows.
create index listing_change_of_page on listing_change (app_id, storefront, kind, subject, at)
where source = 'apple-app-page';

-- Installs and in-app purchases as an app's page showed them on a day: the latest reading of the day. Null if not
-- shown.
create table market_fact (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  day date not null,
  seen_at timestamptz not null,
  installs bigint check (installs >= 0),
  has_in_app_purchases boolean,
  in_app_least numeric,
  in_app_most numeric,
  in_app_currency text,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, storefront, source, day)
);

-- The ad systems that an app's publisher authorises, from the app-ads.txt of its website: the latest reading of the
-- day.
create table app_ads (
  app_id int not null references store_app,
  day date not null,
  seen_at timestamptz not null,
  source text not null,
  -- The host that was asked, whether it answered or failed. Null if the listing names none.
  domain text,
  state text not null check (state in ('records', 'no_file', 'no_site', 'unreachable')),
  records jsonb not null,
  variables jsonb not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, day)
);

-- An app's page, read in many storefronts on request. Workspaces share an audit. While it runs, its storefronts are
-- read like those of tracked apps, until each is decided or an hour has passed.
create table storefront_audit (
  app_id int not null references store_app on delete cascade,
  started_at timestamptz not null default now(),
  storefronts text[] not null,
  -- As in due (11-measuring.sql).
  priority smallint not null check (priority in (1, 2)),
  -- When the audit ended. Null while it runs.
  finished_at timestamptz,
  -- Whether too many storefronts could not be read.
  failed boolean not null default false,
  -- The result of each storefront.
  rows jsonb,
  primary key (app_id, started_at),
  constraint storefront_audit_rows_check check ((finished_at is null) = (rows is null)),
  constraint storefront_audit_failed_check check (not failed or finished_at is not null)
);
create unique index storefront_audit_running on storefront_audit (app_id) where finished_at is null;
