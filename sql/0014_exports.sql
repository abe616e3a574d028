-- Exports: tables that a workspace took out, as they were when it confirmed them, behind a link that needs no key.

-- The link's token is shown once and stored as its hash. It is good for 7 days by this database's clock; the clean-up takes
-- the row a day later, so that a download under way ends and who comes late is told why. Nothing here refers to the app:
-- once it is removed, the file stays what it was.
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
  -- of the rows; null = keywords that were never measured
  from_day date,
  to_day date,
  columns text[] not null,
  rows int not null check (rows > 0),
  check ((from_day is null) = (to_day is null)),
  check (from_day <= to_day)
);
create index export_created on export (created_at, id);

-- The rows, some hundred or thousand a part; src/observations/exported-rows.ts says what a line of each dataset is. A part
-- is written once and read whole: compressing took longer than copying 200,000 reviews did.
create table export_part (
  export_id bigint not null references export,
  place int not null,
  lines text not null,
  primary key (export_id, place)
);
alter table export_part alter lines set storage external;
