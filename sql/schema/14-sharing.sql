-- Shared data of a workspace: exported tables, public pages that show an app as it was when the link was made, and
-- feeds that stay current. Exports and pages do not refer to the app: after it is removed, they stay as they were.

-- A table as it was when the export was confirmed. The link's token is shown once and stored as its hash. It is valid
-- for 7 days by the clock of this database; retention deletes the row a day later, so that a running download can end
-- and a late one gets the reason.
create table export (
  id bigint generated always as identity primary key,
  sha256 bytea not null unique check (length(sha256) = 32),
  workspace_id int not null references workspace,
  created_at timestamptz not null default now(),
  app_id text not null,
  dataset text not null check (dataset in ('keywords', 'history', 'reviews')),
  format text not null check (format in ('csv', 'json')),
  platform text not null check (platform in ('ios', 'android')),
  country text not null,
  -- The days of the rows. Null: keywords that were never measured.
  from_day date,
  to_day date,
  columns text[] not null,
  rows int not null check (rows > 0),
  constraint export_days_both_or_none check ((from_day is null) = (to_day is null)),
  constraint export_days_in_order check (from_day <= to_day)
);
create index export_created on export (created_at, id);

-- The rows, some hundreds or thousands per part; a line per row.
create table export_part (
  export_id bigint not null references export,
  place int not null,
  lines text not null,
  primary key (export_id, place)
);
-- A part is written once and read whole: compressing took longer than copying 200,000 reviews.
alter table export_part alter lines set storage external;

-- The link's token is shown once and stored as its hash. The page is available until expires_at by the clock of this
-- database; then retention deletes the page.
create table share_link (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  app_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Argon2id, as a PHC string. Null: the link alone is enough.
  password text check (password like '$argon2id$%'),
  -- The report as it was.
  content jsonb not null check (length(content::text) <= 1000000),
  constraint share_link_expires_at_check check (expires_at > created_at)
);
create index share_link_workspace on share_link (workspace_id, expires_at);
create index share_link_expires on share_link (expires_at, sha256);

-- An address with current data of one app, for feed readers and spreadsheets. The token is shown once and stored as its
-- hash. The address does not expire: it works until it is withdrawn, the app is removed, or its creator lacks the
-- right.
create table feed_link (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  app_id text not null references tracked_app on delete cascade,
  -- The rights of the creator, such as a membership. Null: it was created on the machine.
  key_id int references api_key,
  dataset text not null check (dataset in ('alerts', 'reviews', 'ranks')),
  format text not null check (format in ('atom', 'csv')),
  -- The list of reviews or ranks. Null: the feed has alerts, which are those of all storefronts.
  platform text check (platform in ('ios', 'android')),
  storefront text,
  -- The columns of a table, in their order. Null: the feed is in Atom, whose entries have fixed elements.
  columns text[] check (cardinality(columns) > 0),
  created_at timestamptz not null default now(),
  constraint feed_link_columns_of_csv check ((columns is null) = (format = 'atom')),
  constraint feed_link_side_unless_alerts check (
    (platform is null) = (dataset = 'alerts') and (storefront is null) = (dataset = 'alerts')
  )
);
create index feed_link_workspace on feed_link (workspace_id, created_at);
create index feed_link_app on feed_link (app_id);
