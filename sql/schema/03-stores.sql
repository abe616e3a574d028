-- Apps, genres and publishers as the stores show them, tracked or not.

-- An app in one store. Ids are small, so that a day's results fit into one row: never waste ids (no "on conflict").
create table store_app (
  id int generated always as identity primary key,
  platform text not null check (platform in ('ios', 'android')),
  store_id text not null,
  developer text,
  -- The store's id of the publisher.
  developer_id text,
  -- The website that the publisher names.
  developer_site text,
  bundle_id text,
  -- The store's id of the main genre.
  genre text,
  -- All genres of the app, the main one first. Null if no source names more than one.
  genres text[] check (cardinality(genres) between 1 and 20),
  -- When, and from which source, the facts of this row were read.
  seen_at timestamptz,
  source text,
  origin text,
  constraint store_app_natural_key unique (platform, store_id)
);
create index store_app_developer on store_app (platform, developer_id) where developer_id is not null;
-- Finds apps of the App Store by their bundle id.
create index store_app_bundle on store_app (bundle_id, id) where platform = 'ios' and bundle_id is not null;

-- An app's name and icon in a storefront: the same app may have another name in Japan. Both have the same origin: own
-- readings take precedence, then those of the publisher whose name sorts first. Name and icon are each from the latest
-- reading. Of two readings at the same time, the one with the greater weight counts (its source, then its parser), then
-- the greater text, so that the order of arrival does not matter. Storefront 'zz': the storefront is unknown.
create table store_app_name (
  app_id int not null references store_app on delete cascade,
  storefront text not null,
  name text,
  icon_url text,
  name_at timestamptz,
  name_weight int,
  icon_at timestamptz,
  icon_weight int,
  origin text not null,
  primary key (app_id, storefront),
  constraint store_app_name_any_fact_check check (name is not null or icon_url is not null),
  constraint store_app_name_name_check check (
    (name is null) = (name_at is null) and (name is null) = (name_weight is null)
  ),
  constraint store_app_name_icon_check check (
    (icon_url is null) = (icon_at is null) and (icon_url is null) = (icon_weight is null)
  )
) with (fillfactor = 70);

-- The latest response of each source about an app in a storefront. available = false: by this response the app is not
-- available.
create table app_storefront (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  seen_at timestamptz not null,
  available boolean not null,
  -- Name, version, price and dates as the store shows them there. Null if it shows none.
  name text,
  version text,
  price numeric,
  currency text,
  genre text,
  released_at timestamptz,
  updated_at timestamptz,
  -- Languages and size are the same in all storefronts.
  languages text[],
  size_bytes bigint,
  -- The latest release date in all readings of this source, and when the first reading named it. Null: as updated_at.
  newest_release timestamptz,
  newest_release_seen_at timestamptz,
  -- When the source last gave an answer from a stale cache.
  stale_at timestamptz,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, storefront, source)
);

-- A store's genres as a storefront names them, parents first.
create table genre (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  -- The store's id.
  genre text not null,
  name text not null,
  -- Null for the genre of all apps.
  parent text,
  place smallint not null,
  seen_at timestamptz not null,
  source text not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (platform, storefront, genre)
);

-- Apps that a publisher sells in a storefront, as of the latest response.
create table developer_shelf (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  developer_id text not null,
  source text not null,
  seen_at timestamptz not null,
  -- False if the response had the maximum length, so that apps may be missing.
  complete boolean not null,
  app_ids int[] not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (platform, storefront, developer_id, source)
);

-- The latest results of a store's own search for each text by which somebody searched for an app. The apps are in the
-- order of their ids: the order of a catalogue is not that of a phone, so these results never give a rank. No app
-- found: an empty list.
create table name_search (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  text text not null,
  source text not null,
  seen_at timestamptz not null,
  app_ids int[] not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (platform, storefront, text, source)
);
create index name_search_seen on name_search (seen_at);

-- The folded texts by which an app is found by name or publisher. Derived from store_app_name and store_app in the
-- transaction that writes those. The program folds, so that every database and locale gives the same text.
create table app_text (
  app_id int primary key references store_app on delete cascade,
  -- The version of the folding. Rows of another version are derived again.
  formula smallint not null,
  -- Every name of the app, then its publisher.
  folded text collate "C" not null,
  -- Numbers of the fragments of its words.
  grams int[] not null
);
-- Each search reads the pending list of this index, and the write that overflows it merges it: keep it short.
create index app_text_grams on app_text using gin (grams) with (gin_pending_list_limit = 512);
